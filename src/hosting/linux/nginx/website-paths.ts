/** Folders for uploads of WordPress and its plugins. Nothing in them is executed. */
const NEVER_RUN =
  '^/wp-content/(?:uploads|cache|upgrade|upgrade-temp-backup)/.*\\.(?i:php\\d?|phtml|phar|phps|pht)(?:/|$)';
/** Source files of programs, which must not be readable, and editors' backup copies. `.php` itself is executed. */
const PROGRAM = '\\.(?!php$)(?i:php\\d?|phtml|phar|phps|pht|inc)(?i:\\.(?:bak|old|orig|save|swp))?~?$';

/** Paths of programs that are neither run nor shown, after `(?s)`. */
export const CLOSED_PROGRAMS = `${NEVER_RUN}|${PROGRAM}`;

/** Paths of files that browsers may keep. */
export const STATIC_FILES =
  '\\.(?:avif|bmp|css|eot|gif|ico|jpe?g|js|json|map|mjs|mp[34]|og[gv]|otf|pdf|png|svgz?|ttf|wasm|wav|web[mp]|woff2?)$';

/** Paths below these files are answered by WordPress. */
export const TO_WORDPRESS = '/index.php$is_args$args';
