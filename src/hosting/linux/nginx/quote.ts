import { PermanentHostError } from '../../contract/host.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const CONTROL = /[\x00-\x1f\x7f]/;

/**
 * A text as nginx's configuration takes it, in quotes. nginx would put the value of a variable in the place of a `$`, and
 * has no way to write one that stands for itself. Throws a {@link PermanentHostError} for it and for control characters.
 */
export function quoted(text: string): string {
  if (text.includes('$')) throw new PermanentHostError(`${JSON.stringify(text)} must have no "$" for nginx`);
  return quotedPattern(text);
}

/** A regular expression, in quotes: nginx leaves its `$` alone. */
export function quotedPattern(pattern: string): string {
  if (CONTROL.test(pattern)) {
    throw new PermanentHostError(`${JSON.stringify(pattern)} must have no control characters for nginx`);
  }
  return `"${pattern.replace(/[\\"]/g, '\\$&')}"`;
}

/** A regular expression (PCRE) that matches just this text. */
export function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/#-]/g, '\\$&');
}
