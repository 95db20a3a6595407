import type { Queries } from '../../../database/database.ts';
import type { NetworkStatus, SslStatus } from '../../../database/tables/domains.ts';
import type { PageRequest } from '../../../lib/page.ts';

/** A domain with the name of its redirect target. */
export interface DomainRow {
  id: string;
  install_id: string;
  name: string;
  is_cname: boolean;
  is_primary: boolean;
  /** Does not serve its name. */
  is_duplicate: boolean;
  /** May not serve its name until its account has verified the domain. */
  needs_proof: boolean;
  /** Another domain serves the name. */
  is_taken: boolean;
  redirect_to_id: string | null;
  redirect_to_name: string | null;
  secure_all_urls: boolean;
  network_status: NetworkStatus;
  /** The last stored status; the certificate may have expired since. */
  ssl_status: SslStatus;
  /** Expiry of the served certificate; null without one. */
  certificate_not_after: string | null;
  /** Whether visitors arrived at the last check; null if unknown. */
  reached: boolean | null;
  /** One sentence that says why the authority issued no certificate. */
  ssl_reason: string | null;
}

const select = (queries: Queries, installId: string) =>
  queries
    .selectFrom('domains as domain')
    .leftJoin('domains as target', 'target.id', 'domain.redirect_to_id')
    // At most one, by a unique index.
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

/** Domains of an install by their ids. */
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

/** Returns those of the names that the install already has. */
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

/** Adds a domain that does not serve its name yet. The caller then assigns the name, and holds the lock of host names. */
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

/** Deletes a domain. Returns whether it was a duplicate at that moment, because the name may just have been assigned to it. */
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

/** The primary domain of an install. */
export async function findPrimary(
  queries: Queries,
  installId: string,
): Promise<{ id: string; name: string } | undefined> {
  return queries
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('install_id', '=', installId)
    .where('is_primary', '=', true)
    .executeTakeFirst();
}

/** Makes a domain the primary domain of its install, in place of the former one. */
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

/** Marks the domains of an install as waiting to be served, after {@link failDomains}. */
export async function awaitDomains(queries: Queries, installId: string): Promise<void> {
  await queries
    .updateTable('domains')
    .set({ network_status: 'PENDING', ssl_status: 'pending' })
    .where('install_id', '=', installId)
    .execute();
}
