import { IsObject, type TSchema } from 'typebox';
import { asciiHost } from '../lib/ascii-host.ts';
import { itemsOf } from '../lib/schema-bounds.ts';

/** Characters of a domain. Its form in ASCII is no shorter, and has 253 at most (RFC 1035 section 2.3.4). */
const LONGEST_DOMAIN = 253;

/** An email address as it is stored: without surrounding white space, and with its domain in ASCII (RFC 5890). */
export function storedEmail(text: string): string {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  const domain = trimmed.slice(at + 1);
  // The schema refuses longer ones. Converting them would take long.
  if (at < 1 || domain.length > LONGEST_DOMAIN || !/\P{ASCII}/u.test(domain)) return trimmed;
  const host = asciiHost(domain);
  return host === '' ? trimmed : `${trimmed.slice(0, at)}@${host}`;
}

/** A body with its email addresses as they are stored. Copies what it changes. */
export function withStoredEmails(schema: TSchema, value: unknown): unknown {
  if (typeof value === 'string')
    return Reflect.get(schema, 'format') === 'email' ? storedEmail(value) : value;
  const items = itemsOf(schema);
  if (items && Array.isArray(value)) return value.map((element) => withStoredEmails(items, element));
  if (!IsObject(schema) || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(schema.properties).flatMap(([name, member]): [string, unknown][] =>
    Object.hasOwn(value, name) ? [[name, withStoredEmails(member, Reflect.get(value, name))]] : [],
  );
  return { ...value, ...Object.fromEntries(members) };
}
