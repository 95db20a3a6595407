const LONGEST_REASON = 300;

/** The last words of a program as one line without a full stop. */
export function lastLine(said: string): string {
  const line = said
    .replace(/<style[\s\S]*?<\/style>|<[^>]*>|\p{Cc}|\s+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(-LONGEST_REASON)
    .replace(/\.$/, '');
  return line === '' ? 'it printed nothing' : line;
}
