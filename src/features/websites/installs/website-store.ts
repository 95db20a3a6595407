import type { Expression } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { InstallStatus } from '../../../database/tables/installs.ts';
import type { InstallRef } from '../../../hosting/contract/install-ref.ts';

export async function findInstallStatus(queries: Queries, id: string): Promise<InstallStatus | undefined> {
  const install = await queries
    .selectFrom('installs')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirst();
  return install?.status;
}

/** An install in any state, as hosts know it. */
export function findInstallRef(queries: Queries, id: string): Promise<InstallRef | undefined> {
  return queries.selectFrom('installs').select(['id', 'name']).where('id', '=', id).executeTakeFirst();
}

/** An active install, as hosts know it. */
export function findActiveInstall(queries: Queries, id: string): Promise<InstallRef | undefined> {
  return queries
    .selectFrom('installs')
    .select(['id', 'name'])
    .where('id', '=', id)
    .where('status', '=', 'active')
    .executeTakeFirst();
}

export async function findInstallId(queries: Queries, name: string): Promise<string | undefined> {
  const install = await queries
    .selectFrom('installs')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst();
  return install?.id;
}

/** The website of an install, by id or name. */
export function findWebsite(queries: Queries, of: { id: string } | { name: string }) {
  const query = queries
    .selectFrom('installs')
    .select(['id', 'name', 'account_id', 'status', 'host_id', 'php_version', 'wordpress_version'])
    .select(['defer_wordpress_until', 'environment', 'site_id', 'runtime']);
  return ('id' in of ? query.where('id', '=', of.id) : query.where('name', '=', of.name)).executeTakeFirst();
}

/** Why the website of an install is incomplete; null if it is not. */
export async function lostDataOf(queries: Queries, installId: string): Promise<string | null> {
  const row = await queries
    .selectFrom('installs')
    .select('lost_data')
    .where('id', '=', installId)
    .executeTakeFirst();
  return row?.lost_data ?? null;
}

/** Records that all data of a website was replaced, so that none of it is missing. */
export async function endLoss(queries: Queries, id: string): Promise<void> {
  await queries
    .updateTable('installs')
    .set({ lost_data: null })
    .where('id', '=', id)
    .where('lost_data', 'is not', null)
    .execute();
}

/** Deletes the row of an install. Returns the id of its host, if it has one. */
export async function deleteInstall(queries: Queries, id: string): Promise<string | null> {
  const gone = await queries
    .deleteFrom('installs')
    .where('id', '=', id)
    .returning('host_id')
    .executeTakeFirst();
  return gone?.host_id ?? null;
}

/** Marks the provisioning of an install as failed; undefined if the install has been deleted. */
export function failInstall(queries: Queries, id: string): Promise<InstallRef | undefined> {
  return queries
    .updateTable('installs')
    .set({ status: 'failed' })
    .where('id', '=', id)
    .returning(['id', 'name'])
    .executeTakeFirst();
}

/** Marks an install as waiting for its provisioning. */
export async function awaitInstall(queries: Queries, id: string): Promise<void> {
  await queries.updateTable('installs').set({ status: 'pending' }).where('id', '=', id).execute();
}

/** The lanes of failed installs. Their failed jobs hold the only record of the cause. */
export function failedLanes(queries: Queries): Expression<string> {
  return queries
    .selectFrom('installs')
    .select((of) => of.cast<string>('id', 'text').as('lane'))
    .where('status', '=', 'failed')
    .$asScalar();
}

/** Stores the state of a website that its host reported. */
export async function noteApplied(
  queries: Queries,
  id: string,
  website: {
    phpVersion: string | null;
    wordpressVersion: string | null;
    stableIps: readonly string[] | null;
    /** Unchanged if omitted. */
    status?: InstallStatus | undefined;
  },
): Promise<void> {
  const { phpVersion, wordpressVersion, stableIps, status } = website;
  await queries
    .updateTable('installs')
    .set({
      php_version: phpVersion,
      wordpress_version: wordpressVersion,
      stable_ips: stableIps === null ? null : JSON.stringify(stableIps),
      ...(status ? { status } : {}),
    })
    .where('id', '=', id)
    .execute();
}

/** Stores the version of PHP that all websites of the embedded host have. */
export async function notePhpOfAll(queries: Queries, version: string): Promise<void> {
  await queries
    .updateTable('installs')
    .set({ php_version: version })
    .where('host_id', 'is', null)
    .where('runtime', '=', 'wordpress')
    .where('php_version', '!=', version)
    .execute();
}

/** Stores the version that a website has after an update. */
export async function setWordpressVersion(queries: Queries, id: string, version: string): Promise<void> {
  await queries.updateTable('installs').set({ wordpress_version: version }).where('id', '=', id).execute();
}

/** The primary and the default domain of an install, with what is known about reaching them. They may be one. */
export function nameCandidates(queries: Queries, installId: string) {
  return queries
    .selectFrom('domains as domain')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .select(['domain.name', 'domain.is_cname', 'domain.is_primary', 'domain.is_duplicate'])
    .select(['domain.reached', 'certificate.source'])
    .where('domain.install_id', '=', installId)
    .where((eb) => eb.or([eb('domain.is_primary', '=', true), eb('domain.is_cname', '=', true)]))
    .execute();
}

/** Every host name that the edge serves for an install, redirects included. */
export async function servedNamesOf(queries: Queries, installId: string): Promise<string[]> {
  const rows = await queries
    .selectFrom('domains')
    .select('name')
    .where('install_id', '=', installId)
    .where('is_duplicate', '=', false)
    .orderBy('seq')
    .execute();
  return rows.map(({ name }) => name);
}
