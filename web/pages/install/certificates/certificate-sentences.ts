import type { Certificate } from '../../../api/certificates.ts';
import type { Domain } from '../../../api/domains.ts';
import { displayName } from '../../../components/display-name.ts';
import { DAY_MS } from '../../../components/formatted-time.ts';
import { daysLeft, type Label } from '../domains/domain-labels.ts';
import type { ServedDomain } from './listed-certificates.ts';

export const SOURCES: Record<Certificate['cert_source'], string> = {
  LETS_ENCRYPT: 'Automatic',
  THIRD_PARTY: 'Uploaded',
  SELF_SIGNED: 'Self-signed',
  CERT_SOURCE_UNSPECIFIED: 'Unknown',
};

/** Someone must renew an uploaded certificate, so its owners need more time. */
const UPLOAD_SOON_MS = 14 * DAY_MS;

type Dated = Pick<Certificate, 'cert_source' | 'expires_time'>;

/** Returns whether browsers accept a certificate, and for how long if that is short. */
export function certificateState({ cert_source, expires_time }: Dated, now: Date): Label {
  const left = daysLeft(expires_time, now);
  if (left.tone === 'bad') return left;
  if (cert_source === 'SELF_SIGNED') return { word: 'Browsers warn', tone: 'busy' };
  const isSoon = Date.parse(expires_time) - now.getTime() < UPLOAD_SOON_MS;
  if (cert_source === 'THIRD_PARTY' && isSoon) return { word: left.word, tone: 'busy' };
  return left.tone === 'good' ? { word: 'Valid', tone: 'good' } : left;
}

/** As {@link certificateState}, also for a domain without a certificate. */
export const certificateLabel = (certificate: Dated | null, now: Date): Label =>
  certificate === null ? { word: 'No certificate yet', tone: 'busy' } : certificateState(certificate, now);

/**
 * Returns whether a domain shows that the provider has no certificate authority, so that nothing can be ordered. With
 * an authority, HTTPS is not active while the certificate is self-signed.
 */
export function showsNoAuthority({ domain, state }: ServedDomain): boolean {
  const { status } = domain.network_details.network_info.ssl;
  return state.certificate?.source === 'SELF_SIGNED' && status === 'active';
}

const isWildcard = ({ name }: Pick<Domain, 'name'>) => name.startsWith('*.');

/** Returns how a certificate is renewed or replaced. `date` formats a time. */
export function renewalSentence(
  certificate: Dated,
  served: ServedDomain,
  { now, date }: { now: Date; date(at: string): string },
): string {
  const isExpired = Date.parse(certificate.expires_time) <= now.getTime();
  switch (certificate.cert_source) {
    case 'LETS_ENCRYPT': {
      const at = served.state.certificate?.renew_at ?? null;
      if (at === null) return 'Automatic.';
      return Date.parse(at) > now.getTime()
        ? `Automatic, planned for ${date(at)}.`
        : 'Automatic, due now. Homeport orders the new certificate.';
    }
    case 'THIRD_PARTY':
      return isExpired
        ? 'None. Upload a new certificate, or order an automatic one.'
        : 'None. Upload a new certificate before this one expires. Account owners get emails in time.';
    case 'SELF_SIGNED':
      if (isWildcard(served.domain)) return 'Browsers show a warning until you upload a certificate.';
      return showsNoAuthority(served)
        ? 'Automatic, but browsers show a warning until you upload a certificate.'
        : 'Browsers show a warning until the certificate authority issues a certificate, which replaces this one.';
    default:
      return 'Unknown.';
  }
}

/** Returns why no certificate can be ordered for a domain, and what to do; null if one can. */
export function orderObstacle({ domain, state }: ServedDomain): string | null {
  const name = displayName(domain.name);
  if (state.needs_proof) {
    return `${name} is not served yet. Verify under Domains that you own it.`;
  }
  if (domain.duplicate) return `Another install serves ${name}. Remove it there to serve it here.`;
  if (isWildcard(domain)) {
    return `Certificates for wildcard names cannot be ordered. Upload one, or add the names that you need one by one.`;
  }
  // The renewal sentence of the certificate says what to do.
  return null;
}

/** Returns the sentence after an upload. */
export function uploadedSentence(domains: readonly string[]): string {
  if (domains.length > 3) return `Certificate uploaded. ${domains.length} domains use it now.`;
  const names = new Intl.ListFormat('en').format(domains.map(displayName));
  return `Certificate uploaded. ${names} ${domains.length === 1 ? 'uses' : 'use'} it now.`;
}
