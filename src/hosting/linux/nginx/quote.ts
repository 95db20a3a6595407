import { PermanentHostError } from '../../contract/errors.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused
const CONTROL = /[\x00-\x1f\x7f]/;

/**
 * A text in quotes for nginx's configuration. nginx replaces `$` by variables and has no way to escape it, so a text with `$` or
 * control characters causes a {@link PermanentHostError}.
 */
export function quoted(text: string): string {
  if (text.includes('$')) throw new PermanentHostError(`${JSON.stringify(text)} must have no "$" for nginx`);
  return quotedPattern(text);
}

/** A regular expression in quotes, in which nginx leaves `$` alone. */
export function quotedPattern(pattern: string): string {
  if (CONTROL.test(pattern)) {
    throw new PermanentHostError(`${JSON.stringify(pattern)} must have no control characters for nginx`);
  }
  return `"${pattern.replace(/[\\"]/g, '\\$&')}"`;
}

/** A regular expression (PCRE) that matches exactly this text. */
export function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/#-]/g, '\\$&');
}
