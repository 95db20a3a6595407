import { INVISIBLE } from './invisible-characters.ts';

export const LONGEST_NAME = 100;

/** Control characters, line and paragraph separators, and bidirectional controls. They would break mails and tables. */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069';
/** One line with a visible character. No two parts match the same characters, so matching takes linear time. */
export const ONE_LINE = `^(?:[^\\S${CONTROL}]|[${INVISIBLE}])*[^\\s${CONTROL}${INVISIBLE}][^${CONTROL}]*$`;
const HAS_CONTROL = new RegExp(`[${CONTROL}]`);
const CONTROLS = new RegExp(`[${CONTROL}]+`, 'g');

export const hasControlCharacter = (name: string): boolean => HAS_CONTROL.test(name);

/** A text on one line: a space in place of each run of such characters. */
export const withoutControlCharacters = (text: string): string => text.replace(CONTROLS, ' ');
