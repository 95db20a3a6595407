import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { type MigrationOutcome, migrate, pendingMigrations } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import type { QueryTrace } from '../database/query-trace.ts';
import { isSchemaChanging, schemaIsChanging } from '../database/schema-change.ts';
import { requireNotMoved } from '../database/to-postgres/moved-mark.ts';
import { unusableDatabase } from '../database/unusable.ts';
import { withSecurityNotices } from '../features/accounts/security-notices/notifying-activity-log.ts';
import { createQueue } from '../jobs/queue.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { type Randomness, systemRandomness } from '../lib/ids.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { type Announce, MAY_TAKE_LONG } from '../lib/start-steps.ts';
import { createActivityLog } from '../platform/activity-log.ts';
import type { Platform } from '../platform/platform.ts';
import { createSealer } from '../secrets/sealer.ts';
import { loadSealingKey } from '../secrets/sealing-key.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { prepareDataFolder } from './data-folder.ts';
import { untilReachable } from './reachable-database.ts';
import { copyBeforeMigration, requireNoUpgrade, returnDatabase } from './upgrade-copy.ts';

/**
 * Creates the data folder, opens the database and migrates it. The caller closes it. A command leaves a database that an upgrade of the package
 * changes to the server. `announce`: of a service, which also waits for PostgreSQL. Throws OperatorError.
 */
export async function openCurrentDatabase(
  config: Config,
  log: Logger,
  {
    isCommand,
    announce,
    trace,
  }: { isCommand: boolean; announce?: Announce | undefined; trace?: QueryTrace | undefined },
): Promise<{ database: Database; migrations: MigrationOutcome }> {
  prepareDataFolder(config.dataDir);
  let database: Database | undefined;
  try {
    if (isCommand) requireNoUpgrade(config, ['returnTo']);
    else {
      if (announce !== undefined) await untilReachable(config, log, announce);
      await returnDatabase(config, log, announce);
    }
    database = openDatabase(config, log, trace);
    await requireNotMoved(database);
    await untilSchemaSettled(database, isCommand, announce);
    // Before servers leave the database for it.
    if (isCommand && (await pendingMigrations(database)).length > 0) requireNoUpgrade(config, ['wanted']);
    const begins = (migration: string) =>
      log.info(
        { migration },
        'Migrating the database. With a million installs, a migration can take a minute; do not stop it.',
      );
    const before = async (others: number) => {
      if (isCommand) return requireNoUpgrade(config, ['wanted']);
      if (others > 0) log.warn({ processes: others }, STAYED);
      await announce?.(`Copying and migrating the database ${MAY_TAKE_LONG}`);
      await copyBeforeMigration(config, log);
    };
    const migrations = await migrate(database, undefined, begins, before);
    return { database, migrations };
  } catch (error) {
    await database?.close();
    throw error instanceof OperatorError ? error : unusableDatabase(config, error);
  }
}

const STAYED =
  'Processes of this database have not left it before its migration. What they write until then is lost if the upgrade returns to the ' +
  'former version. Stop them: each has a connection "homeport changes" in pg_stat_activity';
const SETTLING_LOOK_MS = 500;

/** A server waits while another machine migrates the database. Throws OperatorError for a command. */
async function untilSchemaSettled(
  database: Database,
  isCommand: boolean,
  announce: Announce | undefined,
): Promise<void> {
  for (let isAnnounced = false; await isSchemaChanging(database); isAnnounced = true) {
    if (isCommand) throw schemaIsChanging();
    if (!isAnnounced)
      await announce?.(`Waiting for a machine that changes the schema of the database ${MAY_TAKE_LONG}`);
    await sleep(SETTLING_LOOK_MS);
  }
}

/** Opens and migrates the database and creates the parts that services need. The caller closes it. */
export async function openPlatform(
  config: Config,
  {
    log,
    clock = systemClock,
    random = systemRandomness,
    tracing,
    isCommand = false,
    announce,
  }: {
    log: Logger;
    clock?: Clock;
    random?: Randomness;
    tracing?: Tracing | undefined;
    isCommand?: boolean;
    announce?: Announce | undefined;
  },
): Promise<Platform> {
  prepareDataFolder(config.dataDir);
  const sealer = createSealer(loadSealingKey(config));
  const { database } = await openCurrentDatabase(config, log, {
    isCommand,
    announce,
    trace: tracing?.ofDatabase(config.databaseUrl === null ? 'sqlite' : 'postgresql'),
  });
  const queue = createQueue(database, clock, random, tracing?.traceparentOf);
  return {
    config,
    database,
    queue,
    activity: withSecurityNotices(createActivityLog({ clock, random }), { queue, clock }),
    clock,
    random,
    sealer,
    log,
    tracing,
  };
}
