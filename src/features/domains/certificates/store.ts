import type { Insertable } from 'kysely';
import type { Queries, Transaction } from '../../../database/database.ts';
import { keepRow } from '../../../database/lock.ts';
import type { CertificateSource } from '../../../database/tables/certificates.ts';
import type { SslStatus } from '../../../database/tables/domains.ts';
import type { Tables } from '../../../database/tables.ts';
import { isUnwarned, type WarningThreshold } from './warning-thresholds-store.ts';

/** The certificate of a domain with its sealed key. */
export function findCertificate(queries: Queries, installId: string, domainId: string) {
  return queries
    .selectFrom('certificates as certificate')
    .innerJoin('domains as domain', 'domain.id', 'certificate.domain_id')
    .select([
      'certificate.seq',
      'domain.name as domain',
      'certificate.source',
      'certificate.chain',
      'certificate.sealed_key',
      'certificate.order_url',
      'certificate.created_at',
      'certificate.not_after',
    ])
    .where('domain.id', '=', domainId)
    .where('domain.install_id', '=', installId)
    .executeTakeFirst();
}

/** The certificates of an install's domains with their sealed keys. */
export function certificatesOfInstall(queries: Queries, installId: string) {
  return queries
    .selectFrom('certificates as certificate')
    .innerJoin('domains as domain', 'domain.id', 'certificate.domain_id')
    .select([
      'certificate.domain_id',
      'certificate.source',
      'certificate.chain',
      'certificate.sealed_key',
      'certificate.not_after',
    ])
    .where('domain.install_id', '=', installId)
    .execute();
}

/** A domain of an install for an order. */
export function findDomainToOrder(queries: Queries, installId: string, domainId: string) {
  return queries
    .selectFrom('domains')
    .select(['id', 'name', 'install_id'])
    .where('id', '=', domainId)
    .where('install_id', '=', installId)
    .executeTakeFirst();
}

/** A served domain with its certificate (all null without one) and its order attempts. */
export interface OrderableDomain {
  id: string;
  install_id: string;
  name: string;
  failures: number;
  order_id: string | null;
  directory_url: string | null;
  source: CertificateSource | null;
  chain: string | null;
  not_before: string | null;
  not_after: string | null;
  renew_at: string | null;
  renewal_id: string | null;
}

/** A served domain that has an order attempt; undefined if it needs no certificate. */
export function findOrderableDomain(
  queries: Queries,
  domainId: string,
): Promise<OrderableDomain | undefined> {
  return queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .innerJoin('certificate_attempts as attempt', 'attempt.domain_id', 'domain.id')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .select([
      'domain.id',
      'domain.install_id',
      'domain.name',
      'attempt.failures',
      'attempt.order_id',
      'certificate.directory_url',
      'certificate.source',
      'certificate.chain',
      'certificate.not_before',
      'certificate.not_after',
      'certificate.renew_at',
      'certificate.renewal_id',
    ])
    .where('domain.id', '=', domainId)
    .where('domain.is_duplicate', '=', false)
    .where('install.status', '=', 'active')
    .executeTakeFirst();
}

export async function setRenewalTime(queries: Queries, domainId: string, renewAt: string): Promise<void> {
  await queries
    .updateTable('certificates')
    .set({ renew_at: renewAt })
    .where('domain_id', '=', domainId)
    .execute();
}

/** Every column of a certificate, so that nothing of the former one stays. */
export type NewCertificate = Required<Omit<Insertable<Tables['certificates']>, 'domain_id' | 'seq'>>;

/** Replaces the certificate of a domain. */
export async function replaceCertificate(
  queries: Queries,
  domainId: string,
  certificate: NewCertificate,
): Promise<void> {
  await queries
    .insertInto('certificates')
    .values({ domain_id: domainId, ...certificate })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(certificate))
    .execute();
}

/** Records that the authority has validated a domain. Returns false if the domain has been deleted. */
export async function recordValidated(queries: Queries, domainId: string, now: string): Promise<boolean> {
  const row = await queries
    .updateTable('domains')
    .set({ reached: true, checked_at: now, ssl_reason: null })
    .where('id', '=', domainId)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Records why no certificate was issued, with `reached` and `checked_at` if reachability was observed. */
export async function recordRefused(
  queries: Queries,
  domainId: string,
  refusal: {
    ssl_status: SslStatus;
    ssl_reason: string;
    reached?: boolean;
    checked_at?: string;
  },
): Promise<void> {
  await queries.updateTable('domains').set(refusal).where('id', '=', domainId).execute();
}

/** The domains of an install, or a page of those of all after `after`, that the edge serves, with the facts for their ssl status. */
export function servedDomains(
  queries: Queries,
  of: { installId: string } | { after: number; limit: number },
) {
  return queries
    .selectFrom('domains as domain')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .select([
      'domain.seq',
      'domain.id',
      'domain.ssl_status',
      'domain.ssl_reason',
      'certificate.source',
      'certificate.not_after',
    ])
    .$call((query) =>
      'installId' in of
        ? query.where('domain.install_id', '=', of.installId)
        : query.where('domain.seq', '>', of.after).orderBy('domain.seq').limit(of.limit),
    )
    .where('domain.is_duplicate', '=', false)
    .where('domain.network_status', '=', 'ACTIVE')
    .execute();
}

/** Forgets why no certificates were issued. */
export async function forgetRefusals(queries: Queries): Promise<void> {
  await queries
    .updateTable('domains')
    .set({ ssl_reason: null })
    .where('ssl_reason', 'is not', null)
    .execute();
}

export async function setSslStatus(queries: Queries, domainId: string, ssl_status: SslStatus): Promise<void> {
  await queries.updateTable('domains').set({ ssl_status }).where('id', '=', domainId).execute();
}

/** The certificates of domains with their sealed keys. */
export function certificatesOf(queries: Queries, domainIds: readonly string[]) {
  return queries
    .selectFrom('certificates')
    .select(['domain_id', 'source', 'sealed_key', 'not_after'])
    .where('domain_id', 'in', domainIds)
    .execute();
}

/**
 * Stores a certificate. Replaces an existing one only if its sealed key is `judged`, because another one may have been stored
 * meanwhile. Does nothing if the domain has been deleted.
 */
export async function storeUnlessReplaced(
  transaction: Transaction,
  domainId: string,
  certificate: NewCertificate,
  judged: string | undefined,
): Promise<void> {
  if (!(await keepRow(transaction, 'domains', domainId))) return;
  await transaction.queries
    .insertInto('certificates')
    .values({ domain_id: domainId, ...certificate })
    .onConflict((conflict) =>
      conflict
        .column('domain_id')
        .doUpdateSet(certificate)
        .where('certificates.sealed_key', '=', judged ?? ''),
    )
    .execute();
}

/** The active installs with a self-signed or an uploaded certificate that expires by a time. */
export async function installsWithOldCertificates(
  queries: Queries,
  endsBy: { selfSigned: string; uploaded: string },
): Promise<string[]> {
  const rows = await queries
    // First the few certificates: SQLite would begin with the installs.
    .with(
      (name) => name('old').materialized(),
      (old) =>
        old
          .selectFrom('certificates')
          .select('domain_id')
          .where((eb) =>
            eb.or([
              eb.and([eb('source', '=', 'SELF_SIGNED'), eb('not_after', '<=', endsBy.selfSigned)]),
              eb.and([eb('source', '=', 'THIRD_PARTY'), eb('not_after', '<=', endsBy.uploaded)]),
            ]),
          ),
    )
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .select('domain.install_id')
    .distinct()
    .where('domain.id', 'in', (eb) => eb.selectFrom('old').select('domain_id'))
    .where('install.status', '=', 'active')
    .execute();
  return rows.map((row) => row.install_id);
}

/**
 * Certificates from the authority that expire by a threshold without a warning, soonest expiry first. `due`: latest renewal
 * time to include, because a certificate that lives only for days is below a threshold before its renewal is due.
 */
export function unwarnedCertificates(
  queries: Queries,
  { thresholds, due, limit }: { thresholds: readonly WarningThreshold[]; due: string; limit: number },
) {
  return queries
    .selectFrom('certificates as certificate')
    .innerJoin('domains as domain', 'domain.id', 'certificate.domain_id')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .select([
      'certificate.domain_id',
      'certificate.not_after',
      'domain.name as domain',
      'domain.ssl_reason as reason',
      'install.name as install',
    ])
    .where('certificate.source', '=', 'LETS_ENCRYPT')
    .where('domain.is_duplicate', '=', false)
    .where((eb) => eb.or([eb('certificate.renew_at', 'is', null), eb('certificate.renew_at', '<=', due)]))
    .where((eb) => isUnwarned(eb, thresholds))
    .orderBy('certificate.not_after')
    .limit(limit)
    .execute();
}

/** Records the threshold of a warning, unless the certificate has been renewed. */
export async function recordWarned(
  queries: Queries,
  { domain_id, not_after, threshold }: { domain_id: string; not_after: string; threshold: number },
): Promise<void> {
  await queries
    .updateTable('certificates')
    .set({ warned_days: threshold })
    .where('domain_id', '=', domain_id)
    .where('not_after', '=', not_after)
    .execute();
}
