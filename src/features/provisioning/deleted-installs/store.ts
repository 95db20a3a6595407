import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';
import type { InstallStatus } from '../../../database/tables/installs.ts';
import { removeInstall } from '../../hosts/removal-job.ts';
import { payloadsOf } from '../../hosts/store.ts';
import { DEFAULT_POLICY } from '../../updates/policy.ts';
import { findPolicy } from '../../updates/policy-store.ts';
import { KEPT_COLUMNS } from '../../websites/installs/fields.ts';
import { findOffload } from '../../websites/offload/store.ts';
import { findPhpLimits } from '../../websites/php/limits-store.ts';
import { findRules } from '../../websites/rules/store.ts';
import { removeKeptBackups } from './jobs.ts';
import { type Kept, type KeptBackup, parseKept } from './kept.ts';

/** A deleted install whose backups are kept. */
export interface DeletedInstall {
  id: string;
  account_id: string;
  name: string;
  host_id: string | null;
  state: 'deleting' | 'kept';
  backup_id: string;
  reason: string | null;
  kept: Kept;
  deleted_at: string;
  expires_at: string;
}

/** An install with everything that a restore puts back; undefined if it is gone. */
export async function readInstall(
  queries: Queries,
  id: string,
): Promise<{ status: InstallStatus; host_id: string | null; kept: Kept } | undefined> {
  const install = await queries
    .selectFrom('installs')
    .select(['status', 'host_id', ...KEPT_COLUMNS])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!install) return undefined;
  const domains = await queries
    .selectFrom('domains as domain')
    .leftJoin('domains as target', 'target.id', 'domain.redirect_to_id')
    .select(['domain.name', 'domain.is_primary', 'domain.secure_all_urls', 'target.name as redirect_to'])
    .where('domain.install_id', '=', id)
    .where('domain.is_duplicate', '=', false)
    .where('domain.is_cname', '=', false)
    .orderBy('domain.seq')
    .execute();
  const backups = await queries
    .selectFrom('backups')
    .select(['id', 'description', 'bytes', 'files', 'sha256', 'scheduled', 'checkpoint'])
    .select(['wordpress_version', 'verified_at', 'created_at', 'finished_at', 'missing_since'])
    .where('install_id', '=', id)
    .where('status', '=', 'completed')
    .where('deleting', '=', false)
    .where('copy_job_id', 'is', null)
    .orderBy('seq')
    .execute();
  const rules = await findRules(queries, id);
  const grants = await queries
    .selectFrom('install_grants')
    .select('user_id')
    .where('install_id', '=', id)
    .execute();
  const certificates = await queries
    .selectFrom('certificates as certificate')
    .innerJoin('domains as domain', 'domain.id', 'certificate.domain_id')
    .select(['domain.name as domain', 'certificate.source', 'certificate.chain', 'certificate.sealed_key'])
    .select(['certificate.not_before', 'certificate.not_after', 'certificate.directory_url'])
    .select(['certificate.order_url', 'certificate.renewal_id', 'certificate.renew_at'])
    .select(['certificate.upload_id', 'certificate.warned_days', 'certificate.created_at'])
    .where('domain.install_id', '=', id)
    .where('certificate.source', '!=', 'SELF_SIGNED')
    .orderBy('certificate.seq')
    .execute();
  const policy = await findPolicy(queries, id);
  const offload = await findOffload(queries, id);
  const { status, host_id, ...facts } = install;
  return {
    status,
    host_id,
    kept: parseKept({
      ...facts,
      domains,
      rules: rules ?? null,
      backups,
      users: grants.map((one) => one.user_id),
      php_limits: await findPhpLimits(queries, id),
      update_policy: policy === DEFAULT_POLICY ? null : policy,
      offload: offload?.settings ?? null,
      certificates,
    }),
  };
}

export async function insertDeleted(queries: Queries, { kept, ...row }: DeletedInstall): Promise<void> {
  await queries
    .insertInto('deleted_installs')
    .values({ ...row, kept: JSON.stringify(kept) })
    .execute();
}

const COLUMNS = [
  ...(['id', 'account_id', 'name', 'host_id', 'state', 'backup_id', 'reason', 'kept'] as const),
  ...(['deleted_at', 'expires_at'] as const),
];

const rowOf = <Row extends { kept: unknown }>(row: Row) => ({ ...row, kept: parseKept(row.kept) });

export async function findDeleted(queries: Queries, id: string): Promise<DeletedInstall | undefined> {
  const row = await queries
    .selectFrom('deleted_installs')
    .select(COLUMNS)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && rowOf(row);
}

/** The latest first. */
export async function deletedOfAccount(queries: Queries, accountId: string): Promise<DeletedInstall[]> {
  const rows = await queries
    .selectFrom('deleted_installs')
    .select(COLUMNS)
    .where('account_id', '=', accountId)
    .orderBy('seq', 'desc')
    .limit(MOST_LISTED)
    .execute();
  return rows.map(rowOf);
}

/** The ids of all deleted installs. */
export async function deletedIds(queries: Queries): Promise<string[]> {
  const rows = await queries.selectFrom('deleted_installs').select('id').execute();
  return rows.map(({ id }) => id);
}

/** All deleted installs, or those with a name, the latest first. */
export async function allDeleted(queries: Queries, name?: string): Promise<DeletedInstall[]> {
  const rows = await queries
    .selectFrom('deleted_installs')
    .select(COLUMNS)
    .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
    .orderBy('seq', 'desc')
    .execute();
  return rows.map(rowOf);
}

const MOST_LISTED = 1_000;

/** Notes that the website is removed, and which backup remains. */
export async function noteKept(
  queries: Queries,
  id: string,
  change: { backup_id?: string; reason?: string; backup?: KeptBackup },
): Promise<void> {
  const present = await findDeleted(queries, id);
  if (!present) return;
  const { backup, ...columns } = change;
  const { kept } = present;
  const backups = backup === undefined ? kept.backups : [...kept.backups, backup];
  await queries
    .updateTable('deleted_installs')
    .set({ ...columns, state: 'kept', kept: JSON.stringify({ ...kept, backups }) })
    .where('id', '=', id)
    .execute();
}

/** Stores the facts about a deleted install again, and the backup that a restore takes. */
export async function updateKept(
  queries: Queries,
  id: string,
  { kept, backup_id }: { kept: Kept; backup_id: string },
): Promise<void> {
  await queries
    .updateTable('deleted_installs')
    .set({ kept: JSON.stringify(kept), backup_id })
    .where('id', '=', id)
    .execute();
}

export async function deleteDeleted(queries: Queries, id: string): Promise<void> {
  await queries.deleteFrom('deleted_installs').where('id', '=', id).execute();
}

/**
 * Lets the oldest deleted installs of an account expire now, so that a number remains: without a limit, an account that creates and
 * deletes installs fills the disk with backups.
 */
export async function expireOldest(
  queries: Queries,
  accountId: string,
  { remaining, now }: { remaining: number; now: string },
): Promise<void> {
  const surplus = await queries
    .selectFrom('deleted_installs')
    .select('id')
    .where('account_id', '=', accountId)
    .where('expires_at', '>', now)
    .orderBy('seq', 'desc')
    .offset(remaining)
    .limit(MOST_LISTED)
    .execute();
  if (surplus.length === 0) return;
  await queries
    .updateTable('deleted_installs')
    .set({ expires_at: now })
    .where(
      'id',
      'in',
      surplus.map(({ id }) => id),
    )
    .execute();
}

/** Deleted installs whose backups are due to be deleted, without those that a job deletes already. */
export function expiredInstalls(queries: Queries, now: string, limit: number) {
  return queries
    .selectFrom('deleted_installs')
    .select(['id', 'name', 'host_id'])
    .where('expires_at', '<=', now)
    .where('state', '=', 'kept')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('jobs')
            .select('jobs.id')
            .where('jobs.kind', '=', removeKeptBackups.name)
            .where('jobs.state', 'in', ['queued', 'running'])
            .whereRef('jobs.lane', '=', eb.cast<string>('deleted_installs.id', 'text')),
        ),
      ),
    )
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}

/**
 * Whether the website of an earlier install with this name is still being removed: its last backup is made, or its Unix user is not
 * removed yet. `id`: the install that wants the name. The lane keeps its own jobs in order.
 */
export async function isNameBeingFreed(
  queries: Queries,
  { id, name }: { id: string; name: string },
): Promise<boolean> {
  const row = await queries
    .selectFrom('deleted_installs')
    .select('id')
    .where('name', '=', name)
    .where('state', '=', 'deleting')
    .executeTakeFirst();
  if (row !== undefined) return true;
  const removals = await payloadsOf(queries, removeInstall.name, ['queued', 'running']);
  return removals.some(
    (payload) => Value.Check(removeInstall.payload, payload) && payload.name === name && payload.id !== id,
  );
}
