import { domainToUnicode } from 'node:url';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { isReplaceableHost } from '../../wordpress/replaceable-host.ts';

/** In the private folder of a website: the host names with ports that its database contains. */
export const NAMES_FILE = 'addresses.json';

const Names = Type.Array(Type.String());

/** The names in the file; none if it is missing or unreadable. */
export function parseNames(text: string | null): string[] {
  if (text === null) return [];
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(Names, value) ? value.filter(isReplaceableHost) : [];
  } catch {
    return [];
  }
}

/** A host name with port as people write it. */
export function unicodeName(host: string): string {
  const [name = '', ...port] = host.split(':');
  return [domainToUnicode(name) || name, ...port].join(':');
}
