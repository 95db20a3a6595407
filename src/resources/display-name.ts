import { Type } from 'typebox';
import type { FaultText } from '../api/validation.ts';

export const LONGEST_NAME = 100;

/** Control characters and the ends of lines and paragraphs: they stand in mails and tables as something else than a name. */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';
/** One line that holds something other than white space. No part of it can match what another does, so it takes no time. */
const ONE_LINE = `^[^\\S${CONTROL}]*[^\\s${CONTROL}][^${CONTROL}]*$`;
const HAS_CONTROL = new RegExp(`[${CONTROL}]`);

/** What people and accounts are called. */
export const displayName = () => Type.String({ pattern: ONE_LINE, maxLength: LONGEST_NAME });

/** What is said of a name that is none. */
export function displayNameTexts(what: string): { invalid: FaultText } {
  const message = `${what} must be one line of text without control characters`;
  return { invalid: { summary: message, message } };
}

export const hasControlCharacter = (name: string): boolean => HAS_CONTROL.test(name);
