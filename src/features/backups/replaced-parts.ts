import type { Config } from '../../config/config.ts';
import type { Runtime } from '../../hosting/contract/install-state.ts';
import type { RestoredParts } from '../../hosting/contract/snapshots.ts';
import { invalidValue } from '../../lib/failures.ts';

/** The parts of a website that a restore or copy replaces. */
export interface ReplacedParts {
  files: boolean;
  database: boolean;
  /** Only these tables of the database; null: all. */
  tables: readonly string[] | null;
}

export const EVERYTHING: ReplacedParts = { files: true, database: true, tables: null };

/** The names of the fields that choose the parts, in the errors of a request. */
export interface PartFields {
  resource: string;
  files: string;
  tables: string;
}

/**
 * Requires that something is to be replaced, and that the website has it. Throws InvalidRequest: websites of the embedded host have files
 * only, or a database that is replaced as a whole.
 */
export function requireParts(
  { files, database, tables }: ReplacedParts,
  { host }: Pick<Config, 'host'>,
  fields: PartFields,
  website: { runtime: Runtime | null } | undefined,
): void {
  const refuse = (field: string, code: string, message: string) =>
    invalidValue(fields.resource, field, code, message);
  if (!files && !database) {
    throw refuse(fields.files, 'nothing_chosen', 'Choose the files, the database or both');
  }
  if (tables !== null && !database) {
    throw refuse(fields.tables, 'without_database', 'Tables are chosen, but not the database');
  }
  if (host !== 'embedded') return;
  if (website?.runtime === 'wordpress') {
    if (tables === null) return;
    throw refuse(
      fields.tables,
      'whole_database_only',
      'This platform restores databases as a whole; leave the tables out',
    );
  }
  if (!files) {
    throw refuse(
      fields.files,
      'no_database',
      'Websites of this platform have no database; choose their files',
    );
  }
  if (tables !== null) {
    throw refuse(
      fields.tables,
      'no_database',
      'Websites of this platform have no database; leave the tables out',
    );
  }
}

/** The fields of a job's payload that name the parts. Jobs of earlier versions have none of them. */
interface PartsOfJob {
  files?: boolean;
  database?: boolean;
  tables?: string[];
}

export function partsPayload({ files, database, tables }: ReplacedParts): PartsOfJob {
  return {
    ...(files ? {} : { files }),
    ...(database ? {} : { database }),
    ...(tables === null ? {} : { tables: [...tables] }),
  };
}

export const isWhole = ({ files, database }: RestoredParts) => files && database === 'all';

export function partsOfJob({
  files = true,
  database = true,
  tables,
  puts_back = false,
}: PartsOfJob & { puts_back?: boolean }): RestoredParts {
  return {
    files,
    database: database ? (tables ?? 'all') : 'none',
    ...(puts_back && tables !== undefined ? { dropAbsent: true } : {}),
  };
}
