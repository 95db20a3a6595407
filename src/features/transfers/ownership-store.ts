import type { Queries } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import { archivesLane, copiesLane } from '../backups/jobs.ts';

/** A site with the installs that move with it. */
interface MovedSite {
  siteId: string;
  installIds: readonly string[];
  originId: string;
  destinationId: string;
}

/**
 * Moves the rows of a site and its installs to another account. Grants of the origin's partial users and the keys to the origin's
 * other hosts end. The rows are also written once for the origin, so that the change feed reports their departure there.
 */
export async function moveRows(
  queries: Queries,
  { siteId, installIds, originId, destinationId }: MovedSite,
): Promise<void> {
  if (installIds.length > 0) {
    await queries.deleteFrom('install_grants').where('install_id', 'in', installIds).execute();
    await queries.deleteFrom('import_keys').where('install_id', 'in', installIds).execute();
    // A foreign key ties the account of an install to that of its site.
    await queries.updateTable('installs').set({ site_id: null }).where('id', 'in', installIds).execute();
  }
  await queries
    .updateTable('sites')
    .set((eb) => ({ name: eb.ref('name') }))
    .where('id', '=', siteId)
    .execute();
  // Tags are notes of the origin. Its customers and their states are no business of the destination.
  await queries
    .updateTable('sites')
    .set({ account_id: destinationId, tags: '[]', tag_keys: '' })
    .where('id', '=', siteId)
    .execute();
  if (installIds.length > 0) {
    await queries
      .updateTable('installs')
      .set({ account_id: destinationId, site_id: siteId })
      .where('id', 'in', installIds)
      .execute();
  }
  await addToCounts(queries, originId, -1, -installIds.length);
  await addToCounts(queries, destinationId, 1, installIds.length);
}

async function addToCounts(
  queries: Queries,
  accountId: string,
  sites: number,
  installs: number,
): Promise<void> {
  await queries
    .updateTable('accounts')
    .set((eb) => ({
      site_count: eb('site_count', '+', sites),
      install_count: eb('install_count', '+', installs),
    }))
    .where('id', '=', accountId)
    .execute();
}

/** The site of a transfer; undefined if it is deleted. */
export function findTransferredSite(queries: Queries, siteId: string) {
  return queries
    .selectFrom('sites')
    .select(['id', 'name', 'account_id', 'sandbox'])
    .where('id', '=', siteId)
    .executeTakeFirst();
}

/** Charges the unfinished jobs of installs to another account, with their operations. They keep running. */
export async function moveJobs(
  queries: Queries,
  installIds: readonly string[],
  destinationId: string,
): Promise<void> {
  if (installIds.length === 0) return;
  await queries
    .updateTable('jobs')
    .set({ share: destinationId })
    .where('lane', 'in', [...installIds, ...installIds.map(copiesLane), ...installIds.map(archivesLane)])
    .where('state', 'in', ['queued', 'running'])
    .execute();
  await queries
    .updateTable('operations')
    .set({ account_id: destinationId })
    .where('install_id', 'in', installIds)
    .where('job_id', 'in', (eb) =>
      eb.selectFrom('jobs').select('id').where('state', 'in', ['queued', 'running']),
    )
    .execute();
}

/** Active credentials that are limited to some installs of an account. */
export function credentialsForInstalls(queries: Queries, accountId: string) {
  return queries
    .selectFrom('credentials')
    .select(['id', 'user_id', 'name', 'read_only', 'account_id', 'install_ids'])
    .where('account_id', '=', accountId)
    .where('install_ids', 'is not', null)
    .where('revoked_at', 'is', null)
    .orderBy('seq')
    .execute();
}

/** Replaces the installs that a credential is limited to. */
export async function setInstallsOfCredential(
  queries: Queries,
  id: string,
  installIds: readonly string[],
): Promise<void> {
  await queries
    .updateTable('credentials')
    .set({ install_ids: JSON.stringify(installIds) })
    .where('id', '=', id)
    .execute();
}

/** The names of installs, without their default domains. */
export async function namesOfInstalls(queries: Queries, installIds: readonly string[]): Promise<string[]> {
  if (installIds.length === 0) return [];
  const rows = await queries
    .selectFrom('domains')
    .select('name')
    .where('install_id', 'in', installIds)
    .where('is_cname', '=', false)
    .orderBy('seq')
    .execute();
  return [...new Set(rows.map(({ name }) => name))];
}

/** A name that these installs serve and another install of the account also has; undefined: none. */
export async function nameLeftBehind(queries: Queries, accountId: string, installIds: readonly string[]) {
  if (installIds.length === 0) return undefined;
  return queries
    .selectFrom('domains as moving')
    .innerJoin('domains as staying', 'staying.name', 'moving.name')
    .innerJoin('installs as install', 'install.id', 'staying.install_id')
    .select(['moving.name', 'install.name as install'])
    .where('moving.install_id', 'in', installIds)
    .where('moving.is_duplicate', '=', false)
    .where('install.account_id', '=', accountId)
    .where('install.id', 'not in', installIds)
    .orderBy('moving.seq')
    .limit(1)
    .executeTakeFirst();
}

/** Deletes the verification of a registrable domain by an account, completed or not. */
export async function deleteProof(
  queries: Queries,
  { account_id, registrable }: Pick<Tables['domain_proofs'], 'account_id' | 'registrable'>,
): Promise<void> {
  await queries
    .deleteFrom('domain_proofs')
    .where('account_id', '=', account_id)
    .where('registrable', '=', registrable)
    .execute();
}
