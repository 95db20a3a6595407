import { Type } from 'typebox';
import type { FaultText } from '../api/validation.ts';

export const LONGEST_NAME = 100;

/**
 * Control characters, the ends of lines and paragraphs, and what turns the direction of the text around it: they stand in mails and
 * tables as something else than a name.
 */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069';
/** One line that holds something other than white space. No part of it can match what another does, so it takes no time. */
const ONE_LINE = `^[^\\S${CONTROL}]*[^\\s${CONTROL}][^${CONTROL}]*$`;
const HAS_CONTROL = new RegExp(`[${CONTROL}]`);

/** What people, accounts and what they make are called. */
export const displayName = (longest: number = LONGEST_NAME) =>
  Type.String({ pattern: ONE_LINE, maxLength: longest });

/** What is said of a name that is none. */
export function displayNameTexts(what: string): Record<'required' | 'invalid', FaultText> {
  const message = `${what} must be one line of text without control characters`;
  return { required: { message: `${what} cannot be empty` }, invalid: { summary: message, message } };
}

export const hasControlCharacter = (name: string): boolean => HAS_CONTROL.test(name);
