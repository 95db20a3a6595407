import { FormError } from '../../../api/failure.ts';

const NO_SHELL = `There is no shell, so | & ; < and > do not work here. If an argument contains them, put it in quotes.`;

/**
 * Splits a command line into arguments as a POSIX shell does: at white space, with quotes and backslashes. Expands nothing. Leaves out a
 * leading `wp`. Throws FormError for an empty line, an open quote and operators of a shell.
 */
export function splitArguments(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    const next = line.charAt(at + 1);
    if (character === quote) {
      quote = null;
    } else if (quote === "'") {
      word += character;
    } else if (character === '\\' && isEscape(next, quote)) {
      word = (word ?? '') + next;
      at++;
    } else if (quote === '"') {
      word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else if ('|&;<>'.includes(character)) {
      throw refusal(NO_SHELL);
    } else {
      word = (word ?? '') + character;
    }
  }
  if (quote !== null) throw refusal(`A quote is open: add the closing ${quote}.`);
  if (word !== null) words.push(word);
  if (words[0] === 'wp') words.shift();
  if (words.length === 0) throw refusal('Enter a command, such as plugin list.');
  return words;
}

/** In double quotes, a backslash escapes these characters only (POSIX, 2.2.3). */
function isEscape(next: string, quote: string | null): boolean {
  return next !== '' && (quote === null || '"\\$`'.includes(next));
}

const refusal = (message: string) => new FormError(message, [{ field: 'command', message }]);
