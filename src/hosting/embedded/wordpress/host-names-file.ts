import { join } from 'node:path';
import { domainToUnicode } from 'node:url';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { writeDurably } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { isReplaceableHost } from '../../wordpress/replaceable-host.ts';
import { removeTree } from '../snapshots/archive-exchange.ts';

/** In the private folder of a website: the host names with ports that its database contains. */
export const NAMES_FILE = 'addresses.json';

const Names = Type.Array(Type.String());

/** Writes the file. The website can have a folder in its place. */
export async function writeHostNames(folder: string, names: readonly string[]): Promise<void> {
  const file = join(folder, NAMES_FILE);
  const content = JSON.stringify(names);
  try {
    await writeDurably(file, content);
  } catch (error) {
    if (!hasCode(error, 'EISDIR', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY')) throw error;
    await removeTree(file);
    await writeDurably(file, content);
  }
}

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
