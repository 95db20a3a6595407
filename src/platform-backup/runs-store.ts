import type { Queries } from '../database/database.ts';

/** The last backup that succeeded, and how many failed since. */
export interface BackupRecord {
  last: {
    name: string;
    destination: string;
    finishedAt: string;
    bytes: number;
    missingWebsites: number;
  } | null;
  failuresSince: number;
  /** The last failure since; null without one. */
  lastError: string | null;
}

export async function insertRun(
  queries: Queries,
  run: { name: string; destination: string; started_at: string },
): Promise<void> {
  await queries
    .insertInto('platform_backups')
    .values({ ...run, finished_at: null, bytes: null, error: null })
    .execute();
}

/** How a backup ended. */
export interface RunOutcome {
  finished_at: string;
  bytes: number | null;
  missing_websites?: number;
  error: string | null;
}

export async function finishRun(queries: Queries, name: string, outcome: RunOutcome): Promise<void> {
  await queries.updateTable('platform_backups').set(outcome).where('name', '=', name).execute();
}

export async function backupRecord(queries: Queries): Promise<BackupRecord> {
  const last = await queries
    .selectFrom('platform_backups')
    .select(['seq', 'name', 'destination', 'finished_at', 'bytes', 'missing_websites'])
    .where('finished_at', 'is not', null)
    .where('error', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  const failures = await queries
    .selectFrom('platform_backups')
    .select('error')
    .where('error', 'is not', null)
    .where('seq', '>', last?.seq ?? 0)
    .orderBy('seq', 'desc')
    .execute();
  return {
    last:
      last === undefined || last.finished_at === null
        ? null
        : {
            name: last.name,
            destination: last.destination,
            finishedAt: last.finished_at,
            bytes: last.bytes ?? 0,
            missingWebsites: last.missing_websites,
          },
    failuresSince: failures.length,
    lastError: failures[0]?.error ?? null,
  };
}

/** Forgets the failures of former settings. */
export async function deleteFailedRuns(queries: Queries): Promise<void> {
  await queries.deleteFrom('platform_backups').where('error', 'is not', null).execute();
}

export async function deleteRunsBefore(queries: Queries, time: string): Promise<void> {
  await queries.deleteFrom('platform_backups').where('started_at', '<', time).execute();
}

/** Facts that a backup needs about the database it copies. */
export interface DatabaseContents {
  migrations: string[];
  installs: { id: string; name: string }[];
}

export async function readContents(queries: Queries): Promise<DatabaseContents> {
  const installs = await queries.selectFrom('installs').select(['id', 'name']).orderBy('name').execute();
  const migrations = await queries
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom('kysely_migration')
    .select('name')
    .orderBy('name')
    .execute();
  return { installs, migrations: migrations.map(({ name }) => name) };
}

/** Whether a job of an install runs, or ended since `time`: it may have changed the website's files. */
export async function hadJobSince(queries: Queries, installId: string, time: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', '=', installId)
    .where((eb) => eb.or([eb('state', '=', 'running'), eb('finished_at', '>=', time)]))
    .executeTakeFirst();
  return job !== undefined;
}

export async function isInstall(queries: Queries, installId: string): Promise<boolean> {
  const row = await queries
    .selectFrom('installs')
    .select('id')
    .where('id', '=', installId)
    .executeTakeFirst();
  return row !== undefined;
}
