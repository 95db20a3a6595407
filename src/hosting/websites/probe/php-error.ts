/** Longest error that a sentence contains. The file and line at its end are never cut. */
const LONGEST = 300;
/** ` in /srv/…/htdocs/wp-content/a.php:7`, or as PHP prints it for other errors, ` in … on line 7`. */
const PLACE = / in (\S+?\.php(?:\(\d+\) : [^:]+)?)(?::(\d+)| on line (\d+))/;
/** Where a path of WordPress begins, whatever folders are above it. */
const WITHIN = /^.*?\/((?:wp-content|wp-includes|wp-admin)\/)/;

/**
 * An error of PHP on one line: its message, and the file relative to the website with the line. Without the stack trace, and without
 * what PHP puts before it.
 */
export function shortPhpError(said: string): string {
  const [first = ''] = said
    .replace(/<[^>]*>/g, '')
    .split(/\r?\n|\\n|Stack trace:/)
    .filter((line) => line.trim() !== '');
  const line = first
    .replace(/^.*?(?:Fatal|Parse|Compile|Core|Recoverable fatal) error:\s*/i, '')
    .replace(/\p{Cc}|\s+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim();
  const placed = PLACE.exec(line);
  if (placed === null) return line.slice(0, LONGEST);
  const [whole, file = '', colon, word] = placed;
  const place = ` in ${relative(file)}:${colon ?? word}`;
  const message = (line.slice(0, placed.index) + line.slice(placed.index + whole.length)).trim();
  return `${message.slice(0, Math.max(0, LONGEST - place.length))}${place}`;
}

function relative(file: string): string {
  const inside = file.replace(WITHIN, '$1');
  return inside === file ? file.replace(/^.*\//, '') : inside;
}
