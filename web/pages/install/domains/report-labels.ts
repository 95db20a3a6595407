import type { Domain, DomainCheck, DomainState } from '../../../api/domains.ts';
import { type Label, NOT_KNOWN } from './domain-labels.ts';

/** Returns a short label for the result of a check. */
export function checkLabel(
  check: DomainCheck,
  domain: Domain | undefined,
  state: Pick<DomainState, 'needs_proof' | 'reached'> | undefined,
): Label {
  if (!check.complete) return { word: 'Checking', tone: 'busy' };
  if (isAllWell(check)) return { word: 'OK', tone: 'good' };
  if (isUnknown(check, domain, state)) return NOT_KNOWN;
  const broken =
    check.dns_error ||
    check.http_error ||
    check.ssl.status === 'failed' ||
    domain?.duplicate === true ||
    domain?.network_details.network_info.status === 'FAILED';
  return broken ? { word: 'Action needed', tone: 'bad' } : { word: 'Works with issues', tone: 'busy' };
}

/** Whether no name server answered, so that the check says nothing about a domain that is served here. */
function isUnknown(
  { ip }: DomainCheck,
  domain: Domain | undefined,
  state: Pick<DomainState, 'needs_proof' | 'reached'> | undefined,
): boolean {
  const isServed = domain?.duplicate === false && domain.network_details.network_info.status === 'ACTIVE';
  return isServed && state?.needs_proof === false && state.reached === null && ip.length === 0;
}

/** Recognises the report's two sentences without issues. */
function isAllWell({ name, result }: Pick<DomainCheck, 'name' | 'result'>): boolean {
  return result === `${name} answers here over HTTPS.` || result === `The edge serves ${name}.`;
}

const TLS_WORDS: Record<string, Label> = {
  verified: { word: 'Trusted by browsers', tone: 'good' },
  self_signed: { word: 'Self-signed (browsers show a warning)', tone: 'busy' },
  failed: { word: 'Not trusted', tone: 'bad' },
  none: { word: 'None found', tone: 'bad' },
};

export function tlsLabel(status: string): Label {
  return TLS_WORDS[status] ?? { word: status, tone: 'plain' };
}

/** Returns whether the name servers and the resolver disagree. The resolver's cache may be out of date. */
export function disagreement({ ip, address }: Pick<DomainCheck, 'ip' | 'address'>): boolean {
  return address.length > 0 && [...ip].sort().join() !== [...address].sort().join();
}
