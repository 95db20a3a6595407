import type { Domain, DomainState } from '../../../api/domains.ts';
import { displayName } from '../../../components/display-name.ts';
import type { Tone } from '../../../components/notice.tsx';
import { DAY_MS } from '../../../components/time.tsx';

export interface Word {
  word: string;
  tone: Tone;
}

const NETWORK: Record<Domain['network_details']['network_info']['status'], Word> = {
  PENDING: { word: 'Being set up', tone: 'busy' },
  ACTIVE: { word: 'Served here', tone: 'good' },
  FAILED: { word: 'Not reached', tone: 'bad' },
};

const TLS: Record<Domain['network_details']['network_info']['ssl']['status'], Word> = {
  pending: { word: 'HTTPS being prepared', tone: 'busy' },
  active: { word: 'HTTPS', tone: 'good' },
  failed: { word: 'HTTPS failed', tone: 'bad' },
  none: { word: 'No HTTPS', tone: 'plain' },
};

/** Not served before the account proves that it owns the domain. */
const UNVERIFIED: Word = { word: 'Needs verification', tone: 'bad' };

/** Ready on the platform's side; whether its DNS leads here is not known. */
const NOT_CHECKED: Word = { word: 'Set up, not checked yet', tone: 'plain' };

/** Whether visitors by this name get here, as far as anybody has looked; the platform itself keeps the DNS of an install's own name. */
export function networkWord(
  domain: Pick<Domain, 'duplicate' | 'network_details'>,
  state: Pick<DomainState, 'is_cname' | 'needs_proof' | 'checked_at'> | undefined,
): Word {
  if (state?.needs_proof) return UNVERIFIED;
  if (domain.duplicate) return { word: 'Served by another install', tone: 'bad' };
  const { status } = domain.network_details.network_info;
  const isKnown = state?.is_cname === true || (state?.checked_at ?? null) !== null;
  return status === 'ACTIVE' && !isKnown ? NOT_CHECKED : NETWORK[status];
}

/** Why the website would lose visitors by this name as its primary domain; null: they get here. */
export function objectionToPrimary(
  domain: Pick<Domain, 'name' | 'duplicate' | 'network_details'>,
  state: Pick<DomainState, 'is_cname' | 'needs_proof' | 'checked_at'> | undefined,
): string | null {
  const { tone } = networkWord(domain, state);
  if (tone === 'good') return null;
  return tone === 'bad'
    ? `The last check found that visitors of ${displayName(domain.name)} do not get here.`
    : `Nobody has seen yet that ${displayName(domain.name)} leads here.`;
}

export function tlsWord(
  domain: Pick<Domain, 'network_details'>,
  certificate: DomainState['certificate'],
): Word {
  const { status } = domain.network_details.network_info.ssl;
  return status === 'active' && certificate?.source === 'SELF_SIGNED'
    ? { word: 'HTTPS, self-signed', tone: 'busy' }
    : TLS[status];
}

export const CERTIFICATE_SOURCES: Record<NonNullable<DomainState['certificate']>['source'], string> = {
  LETS_ENCRYPT: 'issued by the certificate authority',
  THIRD_PARTY: 'brought by somebody',
  SELF_SIGNED: 'self-signed, which browsers warn of',
};

/** A certificate of an authority should have been renewed by then. */
const LATE_DAYS = 3;

/** How long a certificate is still good. */
export function daysLeft(notAfter: string, now: Date): Word {
  const ms = Date.parse(notAfter) - now.getTime();
  if (ms <= 0) return { word: 'Expired', tone: 'bad' };
  const days = Math.floor(ms / DAY_MS);
  const word = days === 0 ? 'Less than a day left' : days === 1 ? '1 day left' : `${days} days left`;
  return { word, tone: days < LATE_DAYS ? 'busy' : 'good' };
}
