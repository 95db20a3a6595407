import { IsObject, type TSchema } from 'typebox';
import { asciiHost } from '../lib/ascii-host.ts';
import { itemsOf } from '../lib/schema-bounds.ts';

/** An email address as it is stored: without surrounding white space, and with its domain in ASCII (RFC 5890). */
export function storedEmail(text: string): string {
  const trimmed = text.trim();
  const [, local, domain] = /^(.+)@(\P{ASCII}[^@]*|[^@]*\P{ASCII}[^@]*)$/u.exec(trimmed) ?? [];
  if (local === undefined || domain === undefined) return trimmed;
  const host = asciiHost(domain);
  return host === '' ? trimmed : `${local}@${host}`;
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
