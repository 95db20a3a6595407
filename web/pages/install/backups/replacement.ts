import type { Install } from '../../../api/installs.ts';

/** The parts of a website that a restore or a copy replaces. */
export interface Parts {
  files: boolean;
  /** Only these files and folders; left out: all. */
  paths?: readonly string[];
  database: boolean;
  /** Only these tables of the database; empty: all. */
  tables: readonly string[];
}

export const EVERYTHING: Parts = { files: true, database: true, tables: [] };

/** The choices of a form. */
export const SCOPES = ['everything', 'files', 'database'] as const;
export type Scope = (typeof SCOPES)[number];

export const SCOPE_LABELS: Record<Scope, string> = {
  everything: 'Files and database',
  files: 'Files only',
  database: 'Database only',
};

export function partsOf(scope: Scope, tables: readonly string[] = []): Parts {
  return {
    files: scope !== 'database',
    database: scope !== 'files',
    tables: scope === 'files' ? [] : tables,
  };
}

/** Parses names of tables separated by commas, spaces or lines, and removes duplicates. */
export function readTables(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((name) => name !== ''))];
}

/** Every install with PHP has a database. */
export const hasDatabase = ({ php_version }: Pick<Install, 'php_version'>) => php_version !== null;

/** Parts that a user can choose to replace. `parts`: whether the platform replaces files or the database alone. */
export function scopesOf(install: Pick<Install, 'php_version'>, parts: boolean): readonly Scope[] {
  if (!hasDatabase(install)) return ['files'];
  return parts ? SCOPES : ['everything'];
}

/** Names the parts: "the files and 2 tables of the database". Websites without a database have files only. */
export function partsLabel(
  { files, database, tables }: Parts,
  install: Pick<Install, 'php_version'>,
): string {
  if (!hasDatabase(install) || !database) return 'the files';
  const whole = tables.length === 0;
  const table = tables.length === 1 ? `the table ${tables[0]}` : `${tables.length} tables of the database`;
  const named = whole ? 'the database' : table;
  return files ? `the files and ${named}` : named;
}

/** Says what a replacement leaves as it is, in one sentence. */
export function keptSentence({ files, paths, database, tables }: Parts, target: ReplacedInstall): string {
  const kept = ['name', 'domains', 'certificates', 'settings'];
  if (hasDatabase(target) && !database) kept.unshift('database');
  if (tables.length > 0) kept.unshift('other tables');
  if (!files) kept.unshift('files');
  if (paths !== undefined && files) kept.unshift('other files');
  return `${target.name} keeps its ${kept.slice(0, -1).join(', ')} and ${kept.at(-1)}.`;
}

export type ReplacedInstall = Pick<Install, 'id' | 'name' | 'environment' | 'php_version'>;

/**
 * Returns whether the user must type the name of the install to be replaced: visitors may see it, or its present state
 * is not kept.
 */
export function needsTypedName({ environment }: Pick<Install, 'environment'>, checkpoint: boolean): boolean {
  return !checkpoint || environment === 'production' || environment === null;
}
