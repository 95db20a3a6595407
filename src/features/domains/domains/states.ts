import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import type { Queries } from '../../../database/database.ts';
import type { CertificateSource } from '../../../database/tables/certificates.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { siblingOf } from './domain-name.ts';
import { domainsWithCertificates, type LastReport, lastReports, namesIn } from './states-store.ts';

/** What stands behind the words of a domain. */
export interface DomainState {
  domain_id: string;
  is_cname: boolean;
  /** It is not served before its account has proved the domain. */
  needs_proof: boolean;
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
  authorize('install.read', 'install.read', await findInstallAccess(queries, caller, installId));
  const [domains, reports] = await Promise.all([
    domainsWithCertificates(queries, installId),
    lastReports(queries, installId),
  ]);
  const toldOf = await latestReports(queries, domains, reports);
  return domains.map(({ source, not_after, name, ...domain }) => ({
    ...domain,
    report_id: toldOf.get(name) ?? null,
    certificate: source === null || not_after === null ? null : { source, not_after },
  }));
}

/** The last report that tells of each name: its own, or a later one of its sibling if the name was there by then. */
async function latestReports(
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
