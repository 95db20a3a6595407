import { withoutControlCharacters } from '../../lib/one-line.ts';

const LONGEST = 300;
/** Characters of the longest sentence that the file and the line may take. */
const LONGEST_PLACE = 180;

/**
 * A fatal error as PHP writes it, on its command line and on a page. Its message can have several lines. `htdocs/a.php(3) : eval()'d code` is a
 * file, too.
 */
const PHP_ERROR =
  /^(?:(?:Fatal|Parse|Compile|Core) error:\s*)?(\S[\s\S]*?) in ((?:phar:\/)?\/[^\n]*?)(?::| on line )(\d+)/;
/** How such an error begins. Logs can lack its kind. */
const BEGINNING = /(?:Fatal|Parse|Compile|Core) error:|\bUncaught /;
/** Characters of an error that are searched, because a website can write without end. */
const MOST_SEARCHED = 16_384;
/** The paths of the host before the website's own. */
const HOST_PATHS =
  /(?<![\w:/])(?:phar:\/)?\/[^\s'"()]*?\/(?:(?=wp-content\/|wp-includes\/|wp-admin\/|wp-[a-z-]+\.php\b)|htdocs\/)/g;

/**
 * Why a program of a website failed, as one line without a full stop: the first fatal error of PHP with its file and line, or else
 * what was said. Paths begin at the website.
 */
export function failureSentence(said: string): string {
  const error = phpErrorIn(said);
  if (error !== null) return error;
  const line = asLine(said).replace(/\.$/, '');
  return line === '' ? 'it printed nothing' : shortened(line, LONGEST);
}

/** The first fatal error of PHP in its output, with its file and line; null without one. */
export function phpErrorIn(said: string): string | null {
  const text = withoutMarks(said);
  const start = text.search(BEGINNING);
  if (start === -1) return null;
  const [, message, file, line] = PHP_ERROR.exec(text.slice(start, start + MOST_SEARCHED)) ?? [];
  if (message === undefined || file === undefined) return null;
  // Outside of the known folders, only the name says something to the website's owner.
  const place = ` in ${shortened(asLine(file).replace(/^\/.*\//, ''), LONGEST_PLACE)}:${line}`;
  return shortened(asLine(message), LONGEST - place.length) + place;
}

const withoutMarks = (text: string) => text.replace(/<style[\s\S]*?<\/style>|<[^>]*>/g, '');

const asLine = (text: string): string =>
  withoutControlCharacters(text.replace(/<style[\s\S]*?<\/style>|<[^>]*>|\s+/g, ' '))
    .replace(/ +/g, ' ')
    .trim()
    .replace(HOST_PATHS, '');

/** Without its middle if it is too long: a sentence begins with its subject and ends with its object. */
function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const start = Math.floor((longest - 1) / 3);
  return `${text.slice(0, start)}…${text.slice(start + 1 - longest)}`.toWellFormed();
}
