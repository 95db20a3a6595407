/** Control characters, those that turn the direction of text, and what stands for no character. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]+/gu;

/** Text that a foreign server chose, with a space for everything that is not for reading. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, ' ').trim();
}

const SHOWN_CHARACTERS = 120;

/** The same for a sentence, where long text is cut: `…` stands for the rest. */
export function quotable(text: string): string {
  const characters = [...printable(text)];
  if (characters.length <= SHOWN_CHARACTERS) return characters.join('');
  return `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`;
}
