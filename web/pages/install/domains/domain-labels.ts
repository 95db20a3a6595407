import type { Domain, DomainState } from '../../../api/domains.ts';
import { displayName } from '../../../components/display-name.ts';
import { DAY_MS } from '../../../components/formatted-time.ts';
import type { Tone } from '../../../components/notice.tsx';

export interface Label {
  word: string;
  tone: Tone;
}

const NETWORK: Record<Domain['network_details']['network_info']['status'], Label> = {
  PENDING: { word: 'Setting up', tone: 'busy' },
  ACTIVE: { word: 'Served here', tone: 'good' },
  FAILED: { word: 'Not reachable', tone: 'bad' },
};

const TLS: Record<Domain['network_details']['network_info']['ssl']['status'], Label> = {
  pending: { word: 'HTTPS pending', tone: 'busy' },
  active: { word: 'HTTPS', tone: 'good' },
  failed: { word: 'HTTPS failed', tone: 'bad' },
  none: { word: 'No HTTPS', tone: 'plain' },
};

/** The domain is not served until the account proves ownership. */
const UNVERIFIED: Label = { word: 'Needs verification', tone: 'bad' };

/** The platform is ready, but no check has seen where the DNS points. */
const NOT_CHECKED: Label = { word: 'Not checked yet', tone: 'plain' };

/** The last check could not tell, for example because no resolver answered. */
export const NOT_KNOWN: Label = { word: 'Could not be checked', tone: 'plain' };

type CheckedState = Pick<DomainState, 'is_cname' | 'needs_proof' | 'checked_at' | 'reached'>;

/**
 * Returns whether the domain is known to reach this install. The default domain needs no check, because the platform
 * manages its DNS.
 */
export function networkLabel(
  domain: Pick<Domain, 'duplicate' | 'network_details'>,
  state: CheckedState | undefined,
): Label {
  if (state?.needs_proof) return UNVERIFIED;
  if (domain.duplicate) return { word: 'Served by another install', tone: 'bad' };
  const { status } = domain.network_details.network_info;
  if (status !== 'ACTIVE' || state?.is_cname) return NETWORK[status];
  if ((state?.checked_at ?? null) === null) return NOT_CHECKED;
  return state?.reached === true ? NETWORK.ACTIVE : NOT_KNOWN;
}

/** Returns why a domain should not be primary yet; null if it reaches this install. */
export function primaryWarning(
  domain: Pick<Domain, 'name' | 'duplicate' | 'network_details'>,
  state: CheckedState | undefined,
): string | null {
  const { tone } = networkLabel(domain, state);
  if (tone === 'good') return null;
  return tone === 'bad'
    ? `The last check found that ${displayName(domain.name)} does not point here.`
    : `No check has confirmed yet that ${displayName(domain.name)} points here.`;
}

export function tlsLabel(
  domain: Pick<Domain, 'network_details'>,
  certificate: Pick<NonNullable<DomainState['certificate']>, 'source'> | null,
): Label {
  const { status } = domain.network_details.network_info.ssl;
  return status === 'active' && certificate?.source === 'SELF_SIGNED'
    ? { word: 'HTTPS, self-signed', tone: 'busy' }
    : TLS[status];
}

/** Automatic renewal should have happened before the last days. */
const LATE_DAYS = 3;

/** Returns how long a certificate stays valid. */
export function daysLeft(notAfter: string, now: Date): Label {
  const ms = Date.parse(notAfter) - now.getTime();
  if (ms <= 0) return { word: 'Expired', tone: 'bad' };
  const days = Math.floor(ms / DAY_MS);
  const word = days === 0 ? 'Less than a day left' : days === 1 ? '1 day left' : `${days} days left`;
  return { word, tone: days < LATE_DAYS ? 'busy' : 'good' };
}
