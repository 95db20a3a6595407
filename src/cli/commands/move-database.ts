import { join } from 'node:path';
import { openCurrentDatabase } from '../../app/open-platform.ts';
import type { Config } from '../../config/config.ts';
import { url } from '../../config/settings/setting-values.ts';
import { SQLITE_FILE } from '../../database/open.ts';
import { cancelMove, type MoveOutcome, moveToPostgres } from '../../database/to-postgres/move-to-postgres.ts';
import { systemClock } from '../../lib/clock.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { requireSetUp } from '../platform/on-platform.ts';
import { createQuietLog } from '../platform/quiet-log.ts';
import { createLineProgress } from '../terminal/line-progress.ts';

/** Moves the configured platform to the PostgreSQL database of an address. Throws OperatorError. */
export async function moveDatabase(config: Config, to: string): Promise<MoveOutcome> {
  const address = url(['postgres:', 'postgresql:'])(to, '--to');
  const { password, searchParams } = new URL(address);
  if (password !== '' || searchParams.has('password')) {
    throw new OperatorError(
      'Every user of this machine can read a password among the arguments of a command. Leave it out of --to, and set it in PGPASSWORD or in ~/.pgpass.',
    );
  }
  requireSqlite(config);
  const log = await createQuietLog(config);
  // The target gets the schema of this version, so the source needs the same.
  const { database } = await openCurrentDatabase(config, log, { isCommand: true });
  await database.close();
  const progress = createLineProgress('Moving', process.stderr, systemClock);
  try {
    return await moveToPostgres(join(config.dataDir, SQLITE_FILE), address, {
      log,
      clock: systemClock,
      onProgress: (step, rows, of) => progress.report(`${step} row ${rows} of ${of}`),
    });
  } finally {
    progress.end();
  }
}

/** Returns the configured platform to SQLite. Throws OperatorError. */
export function cancelDatabaseMove(config: Config): { to: string } {
  requireSqlite({ ...config, databaseUrl: null });
  const { to } = cancelMove(join(config.dataDir, SQLITE_FILE));
  return { to };
}

function requireSqlite(config: Config): void {
  if (config.databaseUrl !== null)
    throw new OperatorError('This platform is on PostgreSQL already, as HOMEPORT_DATABASE_URL says.');
  requireSetUp(config);
}
