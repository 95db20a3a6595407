import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Caller } from '../../access/caller.ts';
import { authorize } from '../../access/permissions.ts';
import type { Queries } from '../../database/database.ts';
import type { CertificateSource } from '../../database/tables/certificates.ts';
import { findStanding } from '../installs/store.ts';
import { siblingOf } from './domain-name.ts';

/** What stands behind the words of a domain. */
export interface DomainState {
  domain_id: string;
  is_cname: boolean;
  /** Why the authority has issued no certificate, one sentence. */
  ssl_reason: string | null;
  /** When a status report last looked. */
  checked_at: string | null;
  /** The last status report that tells of it, be it of its sibling; for as long as it is kept. */
  report_id: string | null;
  certificate: { source: CertificateSource; not_after: string } | null;
}

/** How all domains of an install stand, oldest first. Throws NotFound. */
export async function domainStates(
  queries: Queries,
  caller: Caller,
  installId: string,
): Promise<DomainState[]> {
  authorize('install.read', 'install.read', await findStanding(queries, caller, installId));
  const [domains, reports] = await Promise.all([
    queries
      .selectFrom('domains as domain')
      .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
      .select([
        'domain.id as domain_id',
        'domain.name',
        'domain.is_cname',
        'domain.ssl_reason',
        'domain.checked_at',
        'certificate.source',
        'certificate.not_after',
      ])
      .where('domain.install_id', '=', installId)
      .orderBy('domain.seq')
      .execute(),
    lastReports(queries, installId),
  ]);
  const toldOf = await lastToldOf(queries, domains, reports);
  return domains.map(({ source, not_after, name, ...domain }) => ({
    ...domain,
    report_id: toldOf.get(name) ?? null,
    certificate: source === null || not_after === null ? null : { source, not_after },
  }));
}

interface LastReport {
  seq: number;
  id: string;
}

/** The last report that was asked for of each domain of an install. */
async function lastReports(queries: Queries, installId: string): Promise<Map<string, LastReport>> {
  const rows = await queries
    .selectFrom('domain_reports')
    .select(['domain_id', 'seq', 'id'])
    .where('seq', 'in', (of) =>
      of
        .selectFrom('domain_reports')
        .select((eb) => eb.fn.max('seq').as('seq'))
        .where('install_id', '=', installId)
        .groupBy('domain_id'),
    )
    .execute();
  return new Map(rows.map(({ domain_id, ...report }) => [domain_id, report]));
}

/** The last report that tells of each name: its own, or a later one of its sibling if the name was there by then. */
async function lastToldOf(
  queries: Queries,
  domains: { domain_id: string; name: string }[],
  reports: ReadonlyMap<string, LastReport>,
): Promise<Map<string, string>> {
  const byName = new Map(domains.map(({ domain_id, name }) => [name, reports.get(domain_id)]));
  const later = new Map<string, string>();
  for (const [name, own] of byName) {
    const other = byName.get(siblingOf(name));
    if (other && other.seq > (own?.seq ?? 0)) later.set(name, other.id);
  }
  const told = await namesIn(queries, [...later.values()]);
  const last = new Map<string, string>();
  for (const [name, own] of byName) {
    const other = later.get(name);
    const id = other !== undefined && told.get(other)?.includes(name) ? other : own?.id;
    if (id !== undefined) last.set(name, id);
  }
  return last;
}

const namedDomains = Type.Object({ domains: Type.Array(Type.Object({ name: Type.String() })) });

/** The names that some reports tell of. */
async function namesIn(queries: Queries, reportIds: string[]): Promise<Map<string, string[]>> {
  if (reportIds.length === 0) return new Map();
  const rows = await queries
    .selectFrom('domain_reports')
    .select(['id', 'report'])
    .where('id', 'in', reportIds)
    .execute();
  return new Map(
    rows.map(({ id, report }) => [id, Value.Parse(namedDomains, report).domains.map(({ name }) => name)]),
  );
}
