import Sqlite from 'better-sqlite3';
import type { Config } from '../config/config.ts';
import { codeOf } from '../lib/error-code.ts';
import { OperatorError } from '../lib/operator-error.ts';

/** Of SQLite and of the system: the file, its disk or its rights. The other codes of SQLite are about what was asked. */
const FILE_FAULT = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|BUSY|PERM)/;
/** Classes of SQLSTATE: connection, resources, shut down by its operator, rights to sign in, no such database. */
const SERVER_FAULT = /^(08|53|57|28|3D)[0-9A-Z]{3}$/;
const NO_CONNECTION = /^(ECONN(REFUSED|RESET)|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;

/** Whether the database, or what it stands on, is at fault, and not what was asked of it. */
export function isDatabaseFault(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  if (error instanceof Sqlite.SqliteError) return FILE_FAULT.test(code);
  return SERVER_FAULT.test(code) || NO_CONNECTION.test(code);
}

/** What is wrong with the database, and where to look, for its operator. */
export function unusableDatabase(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  error: unknown,
): OperatorError {
  const where =
    databaseUrl === null ? `It lies in ${dataDir}.${fileRemedy(error)}` : 'Look at HOMEPORT_DATABASE_URL.';
  return new OperatorError(`The database cannot be used: ${reasonOf(error)}. ${where}`, { cause: error });
}

function fileRemedy(error: unknown): string {
  const code = codeOf(error) ?? '';
  if (code === 'SQLITE_FULL' || code === 'ENOSPC') return ' Make room on that disk.';
  return /^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/.test(code)
    ? ' Let this user read and write all that is in there.'
    : '';
}

/** What lies at the bottom of a failure. A refused connection to several addresses says nothing itself. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return reasonOf(error.errors[0]);
  if (error instanceof Error) return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
  return String(error);
}
