import { Type } from 'typebox';
import { LONGEST_NAME, ONE_LINE } from '../lib/one-line.ts';
import type { FaultText } from './validation.ts';

/** Schema of names of users, accounts, sites and other resources. */
export const displayName = (longest: number = LONGEST_NAME) =>
  Type.String({ pattern: ONE_LINE, maxLength: longest });

/** Messages for missing and invalid names. */
export function displayNameTexts(what: string): Record<'required' | 'invalid', FaultText> {
  const message = `${what} must be one line of text without control characters`;
  return { required: { message: `${what} cannot be empty` }, invalid: { summary: message, message } };
}
