import type { Queries } from '../../database/database.ts';
import type { RestoredParts } from '../../hosting/contract/snapshots.ts';
import { invalidValue } from '../../lib/failures.ts';
import type { CapabilityReader, Hosted } from '../hosts/capabilities.ts';

/** The parts of a website that a restore or copy replaces. */
export interface ReplacedParts {
  files: boolean;
  /** Only these files and folders of the backup; left out: all files. */
  paths?: readonly string[] | undefined;
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
  /** Only restores choose paths. */
  paths?: string;
}

/**
 * Requires that a restore replaces something, and that the host of the website can replace just these parts. Throws InvalidRequest,
 * CapabilityUnavailable.
 */
export async function requireParts(
  { files, paths, database, tables }: ReplacedParts,
  website: Hosted,
  { resource, ...fields }: PartFields,
  { queries, capabilities }: { queries: Queries; capabilities: Pick<CapabilityReader, 'require'> },
): Promise<void> {
  if (!files && !database) {
    throw invalidValue(resource, fields.files, 'nothing_chosen', 'Choose the files, the database or both');
  }
  if (paths !== undefined && !files) {
    const field = fields.paths ?? fields.files;
    throw invalidValue(resource, field, 'without_files', 'Paths are chosen, but not the files');
  }
  if (tables !== null && !database) {
    throw invalidValue(
      resource,
      fields.tables,
      'without_database',
      'Tables are chosen, but not the database',
    );
  }
  if (tables !== null) {
    await capabilities.require(queries, website, 'backup_tables', { resource, field: fields.tables });
  }
  // Files alone are everything that a website without a database has.
  if (!files) {
    await capabilities.require(queries, website, 'backup_parts', { resource, field: fields.files });
  }
}

/** The fields of a job's payload that name the parts. Jobs of earlier versions have none of them. */
interface PartsOfJob {
  files?: boolean;
  paths?: string[];
  database?: boolean;
  tables?: string[];
}

export function partsPayload({ files, paths, database, tables }: ReplacedParts): PartsOfJob {
  return {
    ...(files ? {} : { files }),
    ...(paths === undefined ? {} : { paths: [...paths] }),
    ...(database ? {} : { database }),
    ...(tables === null ? {} : { tables: [...tables] }),
  };
}

/** A checkpoint that is put back restores all files, which removes files that chosen paths have added. */
export function partsOfJob({
  files = true,
  paths,
  database = true,
  tables,
  puts_back = false,
}: PartsOfJob & { puts_back?: boolean }): RestoredParts {
  return {
    files,
    ...(paths === undefined || puts_back ? {} : { paths }),
    database: database ? (tables ?? 'all') : 'none',
    ...(puts_back && tables !== undefined ? { dropAbsent: true } : {}),
  };
}
