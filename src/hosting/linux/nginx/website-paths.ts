/** Paths of files that browsers may keep. */
export const STATIC_FILES =
  '\\.(?:avif|bmp|css|eot|gif|ico|jpe?g|js|json|map|mjs|mp[34]|og[gv]|otf|pdf|png|svgz?|ttf|wasm|wav|web[mp]|woff2?)$';

/** Paths below these files are answered by WordPress. */
export const TO_WORDPRESS = '/index.php$is_args$args';
