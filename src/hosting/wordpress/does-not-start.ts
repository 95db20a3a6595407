import { withoutControlCharacters } from '../../lib/one-line.ts';

const LONGEST_REASON = 300;

/** Why a website's WordPress does not start, from what PHP wrote; for the website's owner. */
export function doesNotStart(written: string): string {
  const line = withoutControlCharacters(written)
    .replace(/<style[\s\S]*?<\/style>|<[^>]*>|\s+/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(-LONGEST_REASON)
    .toWellFormed();
  return `WordPress does not start. Check wp-config.php and the database: ${line === '' ? 'it printed nothing' : line}`;
}
