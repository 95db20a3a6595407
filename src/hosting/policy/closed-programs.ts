/** Folders for uploads of WordPress and its plugins. Nothing in them is executed. */
const NEVER_RUN =
  '^/wp-content/(?:uploads|cache|upgrade|upgrade-temp-backup)/.*\\.(?i:php\\d?|phtml|phar|phps|pht)(?:/|$)';
/** Source files of programs, which must not be readable, and editors' backup copies. `.php` itself is executed. */
const PROGRAM = '\\.(?!php$)(?i:php\\d?|phtml|phar|phps|pht|inc)(?i:\\.(?:bak|old|orig|save|swp))?~?$';

/** Paths of programs that are neither run nor shown: an expression for PCRE after `(?s)`, and for JavaScript with the flag `s`. */
export const CLOSED_PROGRAMS = `${NEVER_RUN}|${PROGRAM}`;

const closed = new RegExp(CLOSED_PROGRAMS, 's');

/** Whether a decoded path belongs to a program that is neither run nor shown. */
export const isClosedProgram = (path: string): boolean => closed.test(path);
