/** Control characters, characters that change the direction of text, and code points without a character. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]+/gu;

/** Text from a foreign server, with unprintable characters replaced by spaces. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, ' ').trim();
}

const SHOWN_CHARACTERS = 120;

/** The same for quoting in a sentence: long text is cut and ends with `…`. */
export function quotable(text: string): string {
  const characters = [...printable(text)];
  if (characters.length <= SHOWN_CHARACTERS) return characters.join('');
  return `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`;
}
