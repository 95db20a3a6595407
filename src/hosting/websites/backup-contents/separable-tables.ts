import { RefusedRestoreError } from '../../contract/errors.ts';
import { CORE_TABLES, wordpressPrefixes } from '../../wordpress/core-tables.ts';

/** The tables of a database, without views. */
export interface DatabaseTables {
  tables: readonly string[];
  /** The tables of each foreign key: the one that has it, and the one it refers to. */
  keys: readonly (readonly string[])[];
}

/**
 * Requires that some tables can be replaced alone: the restored database `from` has all of them, and no foreign key connects them with
 * other tables. Nor may a table of WordPress have another prefix than that of the website's database `to`. `mayLack`: the restored
 * database need not have them. Throws a RefusedRestoreError.
 */
export function requireSeparable(
  chosen: readonly string[],
  { from, to }: { from: DatabaseTables; to: DatabaseTables },
  mayLack: boolean,
): void {
  if (!mayLack) {
    requireThere(new Set(from.tables), chosen);
    requireSamePrefix(new Set(to.tables), chosen);
  }
  for (const { keys } of [from, to]) requireNoBorderKey(keys, chosen);
}

function requireThere(present: ReadonlySet<string>, chosen: readonly string[]): void {
  const missing = chosen.filter((name) => !present.has(name));
  if (missing.length > 0) {
    throw new RefusedRestoreError(
      `The database has no table ${missing.map(quoted).join(', ')}. The website is unchanged.`,
    );
  }
}

/** WordPress ignores tables with another prefix than its own, so their restore would seem to do nothing. */
function requireSamePrefix(present: ReadonlySet<string>, chosen: readonly string[]): void {
  const prefixes = wordpressPrefixes(present);
  const [prefix] = prefixes;
  const foreign = chosen.find(
    (table) =>
      !present.has(table) &&
      CORE_TABLES.some((name) => table.endsWith(name)) &&
      // Plugins have such names after the prefix.
      !prefixes.some((own) => table.startsWith(own)),
  );
  if (prefix === undefined || foreign === undefined) return;
  throw new RefusedRestoreError(
    `The tables of the website begin with "${prefix}", so its WordPress would not read the table ${quoted(foreign)}. Restore the files and the whole database instead. The website is unchanged.`,
  );
}

function requireNoBorderKey(keys: DatabaseTables['keys'], chosen: readonly string[]): void {
  for (const [table = '', referenced = ''] of keys) {
    if (chosen.includes(table) === chosen.includes(referenced)) continue;
    throw new RefusedRestoreError(
      `A foreign key connects the tables ${quoted(table)} and ${quoted(referenced)}. Name both or neither. The website is unchanged.`,
    );
  }
}

const quoted = (name: string) => `"${name}"`;
