import type { Certificate } from '../../../api/certificates.ts';
import type { Domain, DomainState } from '../../../api/domains.ts';
import type { Operation } from '../../../api/operations.ts';
import { displayName } from '../../../components/display-name.ts';

/** A domain with its details. */
export interface ServedDomain {
  domain: Domain;
  state: DomainState;
}

/** A certificate with the domains that use it; null for a domain that has none. */
export interface ListedCertificate {
  id: string;
  certificate: Certificate | null;
  domains: [ServedDomain, ...ServedDomain[]];
}

/** Groups the domains of an install by their certificate, in the order of the domains. */
export function listCertificates(
  domains: readonly Domain[],
  states: readonly DomainState[],
  certificates: readonly Certificate[],
): ListedCertificate[] {
  const listed = new Map<string, ListedCertificate>();
  for (const domain of domains) {
    const state = states.find(({ domain_id }) => domain_id === domain.id);
    // Added between two requests. A live change loads it again.
    if (state === undefined) continue;
    const certificate = certificates.find(({ id }) => id === state.certificate?.id) ?? null;
    const id = certificate === null ? domain.id : String(certificate.id);
    const present = listed.get(id);
    if (present) present.domains.push({ domain, state });
    else listed.set(id, { id, certificate, domains: [{ domain, state }] });
  }
  return [...listed.values()];
}

/** Names a certificate by the domains that use it. */
export function titleOf({ domains: [first, ...others] }: ListedCertificate): string {
  const name = displayName(first.domain.name);
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}

/** How long a successful order is shown. After that, the certificate itself says enough. */
const SHOWN_AFTER_SUCCESS_MS = 10 * 60_000;

/**
 * Returns the latest order of a domain if it still matters: it is in progress, has just succeeded, or failed after the
 * present certificate was stored.
 */
export function shownOrder(
  operations: readonly Operation[],
  domainId: string,
  certificate: Pick<Certificate, 'approved_time' | 'cert_source'> | null,
  now: Date,
): Operation | null {
  const latest = operations.find(({ domain }) => domain?.id === domainId);
  if (latest === undefined || latest.status === 'cancelled') return null;
  if (latest.finished_at === null) return latest;
  const finished = Date.parse(latest.finished_at);
  if (latest.status === 'succeeded') {
    // An uploaded certificate has replaced the ordered one.
    const isReplaced = certificate?.cert_source === 'THIRD_PARTY';
    return !isReplaced && now.getTime() - finished < SHOWN_AFTER_SUCCESS_MS ? latest : null;
  }
  return certificate === null || finished > Date.parse(certificate.approved_time) ? latest : null;
}
