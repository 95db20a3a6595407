import Sqlite from 'better-sqlite3';
import type { Config } from '../config/config.ts';
import { codeOf } from '../lib/error-code.ts';
import { OperatorError } from '../lib/operator-error.ts';

/** Codes of SQLite and the system about the file, its disk or its permissions. Other SQLite codes concern the query. */
const FILE_FAULT = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|BUSY|PERM)/;
/** SQLSTATE classes: connection, resources, operator shutdown, authorization, unknown database. */
const SERVER_FAULT = /^(08|53|57|28|3D)[0-9A-Z]{3}$/;
const NO_CONNECTION = /^(ECONN(REFUSED|RESET)|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;

/** Whether the database or its disk is at fault, rather than the query. */
export function isDatabaseFault(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  if (error instanceof Sqlite.SqliteError) return FILE_FAULT.test(code);
  return SERVER_FAULT.test(code) || NO_CONNECTION.test(code);
}

/** SQLSTATE classes of wrong settings: authorization, unknown database. */
const WRONG_SETTINGS = /^(28|3D)[0-9A-Z]{3}$/;

/** Whether a connection that failed may succeed later with the same settings. */
export const canPass = (error: unknown): boolean => !WRONG_SETTINGS.test(codeOf(error) ?? '');

/** Describes the fault and where to look, for the operator. */
export function unusableDatabase(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  error: unknown,
): OperatorError {
  const where =
    databaseUrl === null ? `It is in ${dataDir}.${fileRemedy(error)}` : 'Look at HOMEPORT_DATABASE_URL.';
  return new OperatorError(`The database cannot be used: ${reasonOf(error)}. ${where}`, { cause: error });
}

function fileRemedy(error: unknown): string {
  const code = codeOf(error) ?? '';
  // On a full disk, SQLite cannot make its shared memory file either.
  if (/^(SQLITE_FULL|ENOSPC|SQLITE_IOERR_SHMSIZE)$/.test(code)) return ' Make room on that disk.';
  return /^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/.test(code)
    ? ' Give this user read and write access to everything in it.'
    : '';
}

/** The root cause of a failure. A refused connection to several addresses has an empty message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return reasonOf(error.errors[0]);
  if (error instanceof Error) return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
  return String(error);
}
