import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { type Migration, type MigrationResultSet, Migrator } from 'kysely/migration';
import { MINUTE_MS } from '../lib/durations.ts';
import { codeOf } from '../lib/error-code.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { appliedMigrations } from './applied-migrations.ts';
import type { Database, Queries } from './database.ts';
import { controlPlane } from './migrations/0001-control-plane.ts';
import { certificatesByAuthority } from './migrations/0002-certificates-by-authority.ts';
import { hosts } from './migrations/0003-hosts.ts';
import { portal } from './migrations/0004-portal.ts';
import { changeFeed } from './migrations/0005-change-feed.ts';
import { emailChanges } from './migrations/0006-email-changes.ts';
import { publicNamesOfHosts } from './migrations/0007-public-names-of-hosts.ts';
import { edgeAddressesOfHosts } from './migrations/0008-edge-addresses-of-hosts.ts';
import { calledOffJobs } from './migrations/0009-called-off-jobs.ts';
import { looksAtDomains } from './migrations/0010-looks-at-domains.ts';
import { knownDevices } from './migrations/0011-known-devices.ts';
import { websitesFolder } from './migrations/0012-websites-folder.ts';
import { backupsForCopies } from './migrations/0013-backups-for-copies.ts';
import { fairSharesOfJobs } from './migrations/0014-fair-shares-of-jobs.ts';
import { orphanedInstalls } from './migrations/0015-orphaned-installs.ts';
import { domainOwnership } from './migrations/0016-domain-ownership.ts';
import { programVersion } from './migrations/0017-program-version.ts';
import { platformBackups } from './migrations/0018-platform-backups.ts';
import { conventions } from './migrations/0019-conventions.ts';
import { operations } from './migrations/0020-operations.ts';
import { backups } from './migrations/0021-backups.ts';
import { usage } from './migrations/0022-usage.ts';
import { uploadedCertificates } from './migrations/0023-uploaded-certificates.ts';
import { siteTransfers } from './migrations/0024-site-transfers.ts';
import { events } from './migrations/0025-events.ts';
import { activityInstallNames } from './migrations/0026-activity-install-names.ts';
import { wordpressReadings } from './migrations/0027-wordpress-readings.ts';
import { wordpressUpdates } from './migrations/0028-wordpress-updates.ts';
import { wpCliAndPhpLimits } from './migrations/0029-wp-cli-and-php-limits.ts';
import { limitWarnings } from './migrations/0030-limit-warnings.ts';
import { mailLimits } from './migrations/0031-mail-limits.ts';
import { websiteRules } from './migrations/0032-website-rules.ts';
import { operationSteps } from './migrations/0033-operation-steps.ts';
import { deletedInstalls } from './migrations/0034-deleted-installs.ts';
import { begunUpdates } from './migrations/0035-begun-updates.ts';
import { awaitedCopies } from './migrations/0036-awaited-copies.ts';
import { importKeys } from './migrations/0038-import-keys.ts';
import { urgentJobs } from './migrations/0039-urgent-jobs.ts';
import { installRuntimes } from './migrations/0040-install-runtimes.ts';
import { pageUsage } from './migrations/0044-page-usage.ts';
import { begunReplacements } from './migrations/0045-begun-replacements.ts';
import { passkeys } from './migrations/0046-passkeys.ts';
import { notifications } from './migrations/0047-notifications.ts';
import { siteTags } from './migrations/0048-site-tags.ts';
import { operationEvents } from './migrations/0049-operation-events.ts';
import { updateCodes } from './migrations/0050-update-codes.ts';
import { setAsideJobs } from './migrations/0051-set-aside-jobs.ts';
import { seenSettings } from './migrations/0052-seen-settings.ts';
import { missingBackups } from './migrations/0053-missing-backups.ts';
import { uptime } from './migrations/0054-uptime.ts';
import { lostData } from './migrations/0055-lost-data.ts';
import { apiCertificate } from './migrations/0056-api-certificate.ts';
import { webhookJobs } from './migrations/0057-webhook-jobs.ts';
import { installQuotas } from './migrations/0058-install-quotas.ts';
import { listCounts } from './migrations/0059-list-counts.ts';
import { fleetWalks } from './migrations/0060-fleet-walks.ts';
import { doubtfulInstalls } from './migrations/0061-doubtful-installs.ts';
import { warnedCertificates } from './migrations/0062-warned-certificates.ts';
import { installsWithoutSite } from './migrations/0063-installs-without-site.ts';
import { releaseCheck } from './migrations/0064-release-check.ts';
import { jobTraces } from './migrations/0065-job-traces.ts';
import { historyLists } from './migrations/0066-history-lists.ts';
import { websiteLists } from './migrations/0067-website-lists.ts';
import { accountUsageDays } from './migrations/0068-account-usage-days.ts';
import { primaryDomains } from './migrations/0069-primary-domains.ts';
import { copiesAndFailures } from './migrations/0070-copies-and-failures.ts';
import { edgeAuthority } from './migrations/0071-edge-authority.ts';
import { hostLabels } from './migrations/0072-host-labels.ts';
import { moves } from './migrations/0073-moves.ts';
import { lostHosts } from './migrations/0074-lost-hosts.ts';
import { rebuilds } from './migrations/0075-rebuilds.ts';
import { overdueBackups } from './migrations/0076-overdue-backups.ts';
import { sharedSshHostKey } from './migrations/0077-shared-ssh-host-key.ts';
import { recoveryPoints } from './migrations/0078-recovery-points.ts';
import { operators } from './migrations/0079-operators.ts';
import { sshPasses } from './migrations/0080-ssh-passes.ts';
import { type ColumnTypes, POSTGRES_TYPES, SQLITE_TYPES } from './migrations/column-types.ts';
import { type NewerSchema, newerSchema, RECORD_VERSION } from './newer-schema.ts';
import { beginSchemaChange, isReturning, LEAVE_MS, schemaIsChanging } from './schema-change.ts';

/** Every migration in order. Released migrations never change. */
const MIGRATIONS: Record<string, (types: ColumnTypes, dialect: Database['dialect']) => string[]> = {
  '0001-control-plane': controlPlane,
  '0002-certificates-by-authority': certificatesByAuthority,
  '0003-hosts': hosts,
  '0004-portal': portal,
  '0005-change-feed': changeFeed,
  '0006-email-changes': emailChanges,
  '0007-public-names-of-hosts': publicNamesOfHosts,
  '0008-edge-addresses-of-hosts': edgeAddressesOfHosts,
  '0009-called-off-jobs': calledOffJobs,
  '0010-looks-at-domains': looksAtDomains,
  '0011-known-devices': knownDevices,
  '0012-websites-folder': websitesFolder,
  '0013-backups-for-copies': backupsForCopies,
  '0014-fair-shares-of-jobs': fairSharesOfJobs,
  '0015-orphaned-installs': orphanedInstalls,
  '0016-domain-ownership': domainOwnership,
  '0017-program-version': programVersion,
  '0018-platform-backups': platformBackups,
  '0019-conventions': conventions,
  '0020-operations': operations,
  '0021-backups': backups,
  '0022-usage': usage,
  '0023-uploaded-certificates': uploadedCertificates,
  '0024-site-transfers': siteTransfers,
  '0025-events': events,
  '0026-activity-install-names': activityInstallNames,
  '0027-wordpress-readings': wordpressReadings,
  '0028-wordpress-updates': wordpressUpdates,
  '0029-wp-cli-and-php-limits': wpCliAndPhpLimits,
  '0030-limit-warnings': limitWarnings,
  '0031-mail-limits': mailLimits,
  '0032-website-rules': websiteRules,
  '0033-operation-steps': operationSteps,
  '0034-deleted-installs': deletedInstalls,
  '0035-begun-updates': begunUpdates,
  '0036-awaited-copies': awaitedCopies,
  '0038-import-keys': importKeys,
  '0039-urgent-jobs': urgentJobs,
  '0040-install-runtimes': installRuntimes,
  '0044-page-usage': pageUsage,
  '0045-begun-replacements': begunReplacements,
  '0046-passkeys': passkeys,
  '0047-notifications': notifications,
  '0048-site-tags': siteTags,
  '0049-operation-events': operationEvents,
  '0050-update-codes': updateCodes,
  '0051-set-aside-jobs': setAsideJobs,
  '0052-seen-settings': seenSettings,
  '0053-missing-backups': missingBackups,
  '0054-uptime': uptime,
  '0055-lost-data': lostData,
  '0056-api-certificate': apiCertificate,
  '0057-webhook-jobs': webhookJobs,
  '0058-install-quotas': installQuotas,
  '0059-list-counts': listCounts,
  '0060-fleet-walks': fleetWalks,
  '0061-doubtful-installs': doubtfulInstalls,
  '0062-warned-certificates': warnedCertificates,
  '0063-installs-without-site': installsWithoutSite,
  '0064-release-check': releaseCheck,
  '0065-job-traces': jobTraces,
  '0066-history-lists': historyLists,
  '0067-website-lists': websiteLists,
  '0068-account-usage-days': accountUsageDays,
  '0069-primary-domains': primaryDomains,
  '0070-copies-and-failures': copiesAndFailures,
  '0071-edge-authority': edgeAuthority,
  '0072-host-labels': hostLabels,
  '0073-moves': moves,
  '0074-lost-hosts': lostHosts,
  '0075-rebuilds': rebuilds,
  '0076-overdue-backups': overdueBackups,
  '0077-shared-ssh-host-key': sharedSshHostKey,
  '0078-recovery-points': recoveryPoints,
  '0079-operators': operators,
  '0080-ssh-passes': sshPasses,
};

/** The statements of every migration on both databases, by name. Released ones never change, and a test holds them to that. */
export const migrationStatements = (): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, statements]) => [
      name,
      [...statements(SQLITE_TYPES, 'sqlite'), ...statements(POSTGRES_TYPES, 'postgres')],
    ]),
  );

/** The first migration with a table for the program version. */
const VERSION_RECORDED_SINCE = '0017-program-version';

/** Names of every migration that this program knows, in order. */
export const KNOWN_MIGRATIONS: readonly string[] = Object.keys(MIGRATIONS);

export interface MigrationOutcome {
  /** Names of the migrations that just ran. */
  applied: string[];
  /** The number of applied migrations in total. */
  total: number;
}

/** How long a migration waits for others that use the database. */
export interface MigrationTimes {
  /**
   * For one lock of PostgreSQL. Statements of running servers queue behind a statement that waits for an exclusive lock, and are cancelled
   * after 30 s.
   */
  lockMs: number;
  /** In all. Another process may hold SQLite's writer, or lock a table of PostgreSQL. */
  patienceMs: number;
  retryMs: Record<Database['dialect'], number>;
  /** For processes that serve from PostgreSQL, until they have left it. */
  leaveMs: number;
}
const TIMES: MigrationTimes = {
  lockMs: 5_000,
  patienceMs: 10 * MINUTE_MS,
  retryMs: { sqlite: 20, postgres: 2_000 },
  leaveMs: LEAVE_MS,
};
/** PostgreSQL's codes for a lock that was not available in time and for a deadlock. Either ends the transaction of the migration. */
const LOCKED_CODES = new Set(['55P03', '40P01']);

/**
 * Brings the schema up to date, by all missing migrations or none. Safe to call from several processes: one does the work, the others wait.
 * `begins` is called for each migration of a database that an earlier program made, and `before` once ahead of them. No one else
 * writes from then on, but on PostgreSQL the processes that it gets the number of, which have not left. Throws OperatorError if a newer program has migrated the database, or if another process keeps a table locked.
 */
export async function migrate(
  database: Database,
  times = TIMES,
  begins: (migration: string) => void = () => {},
  before: (others: number) => Promise<void> = async () => {},
): Promise<MigrationOutcome> {
  const { error, results = [] } = await applyMissing(database, times, begins, before);
  if (error && isMisfit(error)) {
    const newer = await schemaOfNewerProgram(database);
    if (newer !== null) throw new OperatorError(`${newer.message} ${newer.remedy}`, { cause: error });
  }
  if (isLocked(error)) throw new OperatorError(LOCKED, { cause: error });
  if (error) throw new Error('The database migration failed.', { cause: error });
  return {
    applied: results.map((result) => result.migrationName),
    total: Object.keys(MIGRATIONS).length,
  };
}

const LOCKED =
  'The database was not migrated, because another program keeps a table locked. Stop other Homeport processes of this database, end ' +
  'dumps and open sessions (they are in pg_stat_activity), and start again.';

async function applyMissing(
  database: Database,
  times: MigrationTimes,
  begins: (migration: string) => void,
  before: (others: number) => Promise<void>,
): Promise<MigrationResultSet> {
  const applied = await appliedMigrations(database);
  if (isDeepStrictEqual(applied, KNOWN_MIGRATIONS)) return { results: [] };
  // The migrator refuses the migrations of a newer program.
  if (missingFrom(applied).length === 0)
    return migratorFor(database, database.reader, times, begins).migrateToLatest();
  // A new database is migrated at once.
  const isNew = applied.length === 0;
  return database.withoutTimeLimit(async (queries) => {
    const migrator = migratorFor(database, queries, times, isNew ? () => {} : begins);
    if (database.dialect === 'sqlite') return applyOnSqlite(migrator, queries, times, isNew ? null : before);
    const others = await beginSchemaChange(queries, isNew ? 0 : times.leaveMs);
    if (await isReturning(queries)) throw schemaIsChanging();
    const present = await appliedMigrations(database);
    // Unless another process has done it meanwhile.
    if (present.length > 0 && missingFrom(present).length > 0) await before(others);
    return applyOnPostgres(migrator, times);
  });
}

/** Kysely's migrator begins the transaction, and one of several processes at a time does the work. */
async function applyOnPostgres(migrator: Migrator, times: MigrationTimes): Promise<MigrationResultSet> {
  const until = performance.now() + times.patienceMs;
  for (;;) {
    const outcome = await migrator.migrateToLatest();
    if (!isLocked(outcome.error) || performance.now() > until) return outcome;
    await sleep(times.retryMs.postgres);
  }
}

/** Kysely's migrator uses no transaction on SQLite. */
async function applyOnSqlite(
  migrator: Migrator,
  queries: Queries,
  times: MigrationTimes,
  before: ((others: number) => Promise<void>) | null,
): Promise<MigrationResultSet> {
  await beginImmediate(queries, times);
  try {
    await before?.(0);
  } catch (error) {
    await sql`rollback`.execute(queries).catch(() => {});
    throw error;
  }
  const outcome = await migrator.migrateToLatest();
  if (outcome.error === undefined) await sql`commit`.execute(queries);
  // On a full disk, SQLite has ended the transaction itself.
  else await sql`rollback`.execute(queries).catch(() => {});
  return outcome;
}

/** Begins a transaction once no other process writes. */
async function beginImmediate(queries: Queries, { patienceMs, retryMs }: MigrationTimes): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      await sql`begin immediate`.execute(queries);
      return;
    } catch (error) {
      if (!codeOf(error)?.startsWith('SQLITE_BUSY') || performance.now() > until) throw error;
      await sleep(retryMs.sqlite);
    }
  }
}

function isLocked(error: unknown): boolean {
  return LOCKED_CODES.has(codeOf(error) ?? '');
}

/** Names of the migrations that the database still lacks. */
export async function pendingMigrations(database: Database): Promise<string[]> {
  return missingFrom(await appliedMigrations(database));
}

const missingFrom = (applied: readonly string[]) =>
  KNOWN_MIGRATIONS.filter((name) => !applied.includes(name));

/** Null unless a newer program has migrated the database. */
export function schemaOfNewerProgram(database: Database): Promise<NewerSchema | null> {
  return newerSchema(database, KNOWN_MIGRATIONS);
}

/** Kysely's error for a database whose migrations differ from this program's. */
function isMisfit(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('corrupted migrations');
}

function migratorFor(
  { dialect }: Database,
  db: Queries,
  { lockMs }: MigrationTimes,
  begins: (migration: string) => void,
): Migrator {
  const types = dialect === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES;
  const settings = dialect === 'sqlite' ? [] : [`set local lock_timeout = ${lockMs}`];
  return new Migrator({
    db,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          Object.entries(MIGRATIONS).map(([name, statements]) => [
            name,
            migration(name, [...settings, ...statements(types, dialect)], begins),
          ]),
        ),
    },
  });
}

function migration(name: string, statements: string[], begins: (migration: string) => void): Migration {
  return {
    async up(db) {
      begins(name);
      for (const statement of statements) await sql.raw(statement).execute(db);
      if (name >= VERSION_RECORDED_SINCE) await RECORD_VERSION.execute(db);
    },
  };
}
