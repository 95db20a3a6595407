import type { Queries } from '../../../database/database.ts';
import type { NetworkStatus, SslStatus } from '../../../database/tables/domains.ts';
import type { PageRequest } from '../../../lib/page.ts';

/** A domain with the name that it redirects to. */
export interface DomainRow {
  id: string;
  install_id: string;
  name: string;
  is_cname: boolean;
  is_primary: boolean;
  /** It does not serve its name. */
  is_duplicate: boolean;
  /** It may not serve its name before its account has proved the domain. */
  needs_proof: boolean;
  /** Another domain serves the name. */
  is_taken: boolean;
  redirect_to_id: string | null;
  redirect_to_name: string | null;
  secure_all_urls: boolean;
  network_status: NetworkStatus;
  /** As it was judged last; its certificate may have expired since. */
  ssl_status: SslStatus;
  /** Of the certificate that the edge shows; null while there is none. */
  certificate_not_after: string | null;
  /** Whether the last check saw visitors of this name arrive here; null while none could tell. */
  reached: boolean | null;
  /** Why there is no certificate from the authority, one sentence. */
  ssl_reason: string | null;
}

const select = (queries: Queries, installId: string) =>
  queries
    .selectFrom('domains as domain')
    .leftJoin('domains as target', 'target.id', 'domain.redirect_to_id')
    // At most one: a unique index sees to that.
    .leftJoin('domains as serving', (join) =>
      join
        .onRef('serving.name', '=', 'domain.name')
        .onRef('serving.id', '!=', 'domain.id')
        .on('serving.is_duplicate', '=', false),
    )
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .select([
      'domain.id',
      'domain.install_id',
      'domain.name',
      'domain.is_cname',
      'domain.is_primary',
      'domain.is_duplicate',
      'domain.needs_proof',
      'serving.id as serving_id',
      'domain.redirect_to_id',
      'target.name as redirect_to_name',
      'domain.secure_all_urls',
      'domain.network_status',
      'domain.ssl_status',
      'certificate.not_after as certificate_not_after',
      'domain.reached',
      'domain.ssl_reason',
    ])
    .where('domain.install_id', '=', installId)
    .orderBy('domain.seq');

const rowOf = <Row extends { serving_id: string | null }>({ serving_id, ...row }: Row) => ({
  ...row,
  is_taken: serving_id !== null,
});

/** The domains of an install, oldest first. */
export async function domainsOf(queries: Queries, installId: string): Promise<DomainRow[]> {
  return (await select(queries, installId).execute()).map(rowOf);
}

/** Those of them that it serves: what its website answers to, redirects too. */
export async function ownDomainsOf(queries: Queries, installId: string): Promise<DomainRow[]> {
  return (await select(queries, installId).where('domain.is_duplicate', '=', false).execute()).map(rowOf);
}

/** Some of them, by their ids. */
export async function someDomainsOf(
  queries: Queries,
  installId: string,
  ids: readonly string[],
): Promise<DomainRow[]> {
  return (await select(queries, installId).where('domain.id', 'in', ids).execute()).map(rowOf);
}

export async function pageOfDomains(
  queries: Queries,
  installId: string,
  page: PageRequest,
): Promise<{ count: number; results: DomainRow[] }> {
  const [{ count }, results] = await Promise.all([
    queries
      .selectFrom('domains')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('install_id', '=', installId)
      .executeTakeFirstOrThrow(),
    select(queries, installId).limit(page.limit).offset(page.offset).execute(),
  ]);
  return { count, results: results.map(rowOf) };
}

export async function findDomain(
  queries: Queries,
  installId: string,
  domainId: string,
): Promise<DomainRow | undefined> {
  const row = await select(queries, installId).where('domain.id', '=', domainId).executeTakeFirst();
  return row && rowOf(row);
}

/** Which of some names the install has. */
export async function namesAmong(queries: Queries, installId: string, names: string[]): Promise<string[]> {
  const rows = await queries
    .selectFrom('domains')
    .select('name')
    .where('install_id', '=', installId)
    .where('name', 'in', names)
    .execute();
  return rows.map((row) => row.name);
}

/** Whether another domain of the install redirects to this one. */
export async function isRedirectTarget(queries: Queries, domainId: string): Promise<boolean> {
  const row = await queries
    .selectFrom('domains')
    .select('id')
    .where('redirect_to_id', '=', domainId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Adds a name to an install, as one that does not serve it yet. The caller settles who does, and holds the lock of host names. */
export async function insertDomain(
  queries: Queries,
  domain: { id: string; install_id: string; name: string; needs_proof: boolean; created_at: string },
): Promise<void> {
  await queries
    .insertInto('domains')
    .values({
      ...domain,
      is_cname: false,
      is_primary: false,
      is_duplicate: true,
      redirect_to_id: null,
      ssl_status: 'pending',
    })
    .execute();
}

export async function setRedirect(
  queries: Queries,
  domainId: string,
  targetId: string | null,
): Promise<void> {
  await queries.updateTable('domains').set({ redirect_to_id: targetId }).where('id', '=', domainId).execute();
}

export async function setSecureAllUrls(queries: Queries, domainId: string, secure: boolean): Promise<void> {
  await queries.updateTable('domains').set({ secure_all_urls: secure }).where('id', '=', domainId).execute();
}

/** Deletes a domain and tells whether it was a duplicate then: the name may have become this install's a moment ago. */
export async function deleteDomain(queries: Queries, domainId: string): Promise<{ is_duplicate: boolean }> {
  return queries
    .deleteFrom('domains')
    .where('id', '=', domainId)
    .returning('is_duplicate')
    .executeTakeFirstOrThrow();
}

/** Deletes the domains of an install, and tells which of them it had as duplicates. */
export function deleteDomainsOf(
  queries: Queries,
  installId: string,
): Promise<{ name: string; is_cname: boolean; is_duplicate: boolean }[]> {
  return queries
    .deleteFrom('domains')
    .where('install_id', '=', installId)
    .returning(['name', 'is_cname', 'is_duplicate'])
    .execute();
}

/** Makes a domain the primary one of its install; the former one is primary no longer. */
export async function setPrimary(queries: Queries, installId: string, domainId: string): Promise<void> {
  await queries
    .updateTable('domains')
    .set({ is_primary: false })
    .where('install_id', '=', installId)
    .where('is_primary', '=', true)
    .execute();
  await queries.updateTable('domains').set({ is_primary: true }).where('id', '=', domainId).execute();
}

/** Notes that the edge serves some names of an install. */
export async function recordServed(
  queries: Queries,
  installId: string,
  names: readonly string[],
): Promise<void> {
  await queries
    .updateTable('domains')
    .set({ network_status: 'ACTIVE' })
    .where('install_id', '=', installId)
    .where('is_duplicate', '=', false)
    .where('name', 'in', names)
    .execute();
}

/** Notes that no name of an install is served, nor will be. */
export async function failDomains(queries: Queries, installId: string): Promise<void> {
  await queries
    .updateTable('domains')
    .set({ network_status: 'FAILED', ssl_status: 'failed' })
    .where('install_id', '=', installId)
    .execute();
}

/** The same of those alone that wait to be served. */
export async function failPendingDomains(queries: Queries, installId: string): Promise<void> {
  await queries
    .updateTable('domains')
    .set({ network_status: 'FAILED', ssl_status: 'failed' })
    .where('install_id', '=', installId)
    .where('is_duplicate', '=', false)
    .where('network_status', '=', 'PENDING')
    .execute();
}
