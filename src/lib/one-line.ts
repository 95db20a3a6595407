import { INVISIBLE } from './invisible-characters.ts';

export const LONGEST_NAME = 100;

/** Controls that show the text after them in another order, which can disguise it. */
const BIDIRECTIONAL = '\\u202a-\\u202e\\u2066-\\u2069';
/** Control characters, line and paragraph separators, and bidirectional controls. They would break mails and tables. */
const CONTROL = `\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029${BIDIRECTIONAL}`;
/** One line that begins with a visible character, or white space and one. No two parts match the same characters, so matching takes linear time. */
export const ONE_LINE = `^[^\\S${CONTROL}]*[^\\s${CONTROL}${INVISIBLE}][^${CONTROL}]*$`;
const HAS_CONTROL = new RegExp(`[${CONTROL}]`);
const CONTROLS = new RegExp(`[${CONTROL}]+`, 'g');

const REORDERS = new RegExp(`[${BIDIRECTIONAL}]`);

/** Whether a text of one or several lines has a bidirectional control. */
export const isReordered = (text: string): boolean => REORDERS.test(text);

export const hasControlCharacter = (name: string): boolean => HAS_CONTROL.test(name);

/** A text on one line: a space in place of each run of such characters. */
export const withoutControlCharacters = (text: string): string => text.replace(CONTROLS, ' ');
