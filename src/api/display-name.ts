import { Type } from 'typebox';
import { LONGEST_NAME, ONE_LINE } from '../lib/one-line.ts';
import type { FaultText } from './validation.ts';

/** What people, accounts and what they make are called. */
export const displayName = (longest: number = LONGEST_NAME) =>
  Type.String({ pattern: ONE_LINE, maxLength: longest });

/** What is said of a name that is none. */
export function displayNameTexts(what: string): Record<'required' | 'invalid', FaultText> {
  const message = `${what} must be one line of text without control characters`;
  return { required: { message: `${what} cannot be empty` }, invalid: { summary: message, message } };
}
