import type { Entry } from '../../api/activity.ts';
import { nameAndAddress } from './person-name.ts';
import { parseRoles, roleLabel } from './roles.ts';

/** Backups are named by descriptions, which may be long. The CSV file has them in full. */
export const LONGEST_NAME = 120;

export type EntryFields = Pick<
  Entry,
  'action' | 'subject_id' | 'subject_name' | 'user_id' | 'user_name' | 'details'
>;
export type Details = NonNullable<Entry['details']>;

/** Returns whether users did this to themselves. */
export function isOwn({ subject_id, subject_name, user_id, user_name }: EntryFields): boolean {
  if (user_id === null) return false;
  const { email } = nameAndAddress(user_name);
  return subject_id === user_id || email === null || email === subject_name;
}

export const ofSubject = (entry: EntryFields) => (isOwn(entry) ? '' : ` of ${entry.subject_name}`);
export const possessive = (entry: EntryFields, what: string) =>
  isOwn(entry) ? `their ${what}` : `the ${what} of ${entry.subject_name}`;

export const renamed = (what: string, to: string) => `renamed ${what} to ${to}`;
export const joined = (parts: string[], otherwise: string) =>
  parts.length === 0 ? otherwise : parts.join(' and ');
export const text = (value: unknown): value is string => typeof value === 'string' && value !== '';
export const asRoles = (roles: unknown) => (text(roles) ? ` as ${roleLabel(parseRoles(roles))}` : '');
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

/** The server counts up to here, and the pages end here. */
const MOST_COUNTED = 10_000;

export function countOfEntries(count: number): string {
  if (count >= MOST_COUNTED)
    return '10,000 entries or more. Filters and the CSV file have those after the last page.';
  return count === 1 ? '1 entry' : `${count} entries`;
}
