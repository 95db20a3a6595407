import type { Domain, DomainCheck } from '../../../api/domains.ts';
import type { Word } from './domain-labels.ts';

/** How one domain of a report stands, in two words; the sentence says the rest. */
export function checkWord(check: DomainCheck, domain: Domain | undefined): Word {
  if (!check.complete) return { word: 'Being checked', tone: 'busy' };
  if (isAllWell(check)) return { word: 'All is well', tone: 'good' };
  const broken =
    check.dns_error ||
    check.http_error ||
    check.ssl.status === 'failed' ||
    domain?.duplicate === true ||
    domain?.network_details.network_info.status === 'FAILED';
  return broken ? { word: 'Something to do', tone: 'bad' } : { word: 'Works, but read on', tone: 'busy' };
}

/** The two sentences that the report has for it. */
function isAllWell({ name, result }: Pick<DomainCheck, 'name' | 'result'>): boolean {
  return result === `${name} answers here over HTTPS.` || result === `The edge serves ${name}.`;
}

const TLS_WORDS: Record<string, Word> = {
  verified: { word: 'Trusted by browsers', tone: 'good' },
  self_signed: { word: 'Self-signed, which browsers warn of', tone: 'busy' },
  failed: { word: 'Not trusted', tone: 'bad' },
  none: { word: 'None seen', tone: 'bad' },
};

export function tlsSeen(status: string): Word {
  return TLS_WORDS[status] ?? { word: status, tone: 'plain' };
}

/** Whether name servers and resolver say the same; caches may be behind. */
export function disagreement({ ip, address }: Pick<DomainCheck, 'ip' | 'address'>): boolean {
  return address.length > 0 && [...ip].sort().join() !== [...address].sort().join();
}
