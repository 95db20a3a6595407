import { INVISIBLE } from './invisible-characters.ts';

export const LONGEST_NAME = 100;

/**
 * Control characters, the ends of lines and paragraphs, and what turns the direction of the text around it: they stand in mails and
 * tables as something else than a name.
 */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069';
/** One line with a visible character. No part of it can match what another does, so it takes no time. */
export const ONE_LINE = `^(?:[^\\S${CONTROL}]|[${INVISIBLE}])*[^\\s${CONTROL}${INVISIBLE}][^${CONTROL}]*$`;
const HAS_CONTROL = new RegExp(`[${CONTROL}]`);

export const hasControlCharacter = (name: string): boolean => HAS_CONTROL.test(name);
