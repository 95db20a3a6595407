import type { Expression } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { InstallStatus } from '../../../database/tables/installs.ts';
import type { InstallRef } from '../../../hosting/contract/host.ts';

export async function findInstallStatus(queries: Queries, id: string): Promise<InstallStatus | undefined> {
  const install = await queries
    .selectFrom('installs')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirst();
  return install?.status;
}

/** An install as the hosts know it, whatever became of it. */
export function findInstallRef(queries: Queries, id: string): Promise<InstallRef | undefined> {
  return queries.selectFrom('installs').select(['id', 'name']).where('id', '=', id).executeTakeFirst();
}

/** The same, if the install has a website. */
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

/** What is known of a website, by the id or the name of its install. */
export function findWebsite(queries: Queries, of: { id: string } | { name: string }) {
  const query = queries
    .selectFrom('installs')
    .select(['id', 'name', 'account_id', 'status', 'host_id', 'php_version', 'wordpress_version']);
  return ('id' in of ? query.where('id', '=', of.id) : query.where('name', '=', of.name)).executeTakeFirst();
}

/** Returns the host that its website is on; null for none. */
export async function deleteInstall(queries: Queries, id: string): Promise<string | null> {
  const gone = await queries
    .deleteFrom('installs')
    .where('id', '=', id)
    .returning('host_id')
    .executeTakeFirst();
  return gone?.host_id ?? null;
}

/** Notes that no website could be made; undefined if the install has been deleted. */
export function failInstall(queries: Queries, id: string): Promise<InstallRef | undefined> {
  return queries
    .updateTable('installs')
    .set({ status: 'failed' })
    .where('id', '=', id)
    .returning(['id', 'name'])
    .executeTakeFirst();
}

/** The lanes of installs that could not be made: why, stands on their failed jobs alone. */
export function failedLanes(queries: Queries): Expression<string> {
  return queries
    .selectFrom('installs')
    .select((of) => of.cast<string>('id', 'text').as('lane'))
    .where('status', '=', 'failed')
    .$asScalar();
}

/** Notes how a website is now. */
export async function noteApplied(
  queries: Queries,
  id: string,
  website: {
    phpVersion: string | null;
    wordpressVersion: string | null;
    stableIps: readonly string[] | null;
    /** As it stays where this is not given. */
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

/** The primary domain of an install and the name that it has of itself, which may be one, with what tells how they are reached. */
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
