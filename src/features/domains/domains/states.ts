import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import type { Queries } from '../../../database/database.ts';
import type { CertificateSource } from '../../../database/tables/certificates.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { isWildcard, siblingOf } from './domain-name.ts';
import { domainsWithCertificates, type LastReport, lastReports, namesIn } from './states-store.ts';

/** Details of a domain for the portal. */
export interface DomainState {
  domain_id: string;
  is_cname: boolean;
  /** Not served until its account has verified the domain. */
  needs_proof: boolean;
  /** One sentence that says why the authority issued no certificate. */
  ssl_reason: string | null;
  /** Time of the last check. */
  checked_at: string | null;
  /** Whether visitors arrived at the last check; null if it could not tell. */
  reached: boolean | null;
  /** The last status report that covers it, possibly requested for its sibling; null once it is deleted. */
  report_id: string | null;
  /** Time of the next automatic order after a failed one; null without one, as for wildcards. */
  retry_at: string | null;
  certificate: {
    /** In the list of certificates of the install. */
    id: number;
    source: CertificateSource;
    not_after: string;
    /** Time of the automatic renewal; null of other sources than the authority. */
    renew_at: string | null;
  } | null;
}

/** The details of all domains of an install, oldest first. Throws NotFound. */
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
  const latest = await latestReports(queries, domains, reports);
  return domains.map(
    ({ certificate_id: id, source, not_after, renew_at, failures, order_id, next_at, name, ...domain }) => ({
      ...domain,
      report_id: latest.get(name) ?? null,
      retry_at: order_id === null && (failures ?? 0) > 0 && !isWildcard(name) ? next_at : null,
      certificate:
        id === null || source === null || not_after === null
          ? null
          : { id, source, not_after, renew_at: source === 'LETS_ENCRYPT' ? renew_at : null },
    }),
  );
}

/** The last report that covers each name: its own, or a later one of its sibling if that includes the name. */
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
  const covered = await namesIn(queries, [...later.values()]);
  const last = new Map<string, string>();
  for (const [name, own] of byName) {
    const other = later.get(name);
    const id = other !== undefined && covered.get(other)?.includes(name) ? other : own?.id;
    if (id !== undefined) last.set(name, id);
  }
  return last;
}
