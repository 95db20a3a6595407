import { caaRefusal } from '../../../network/dns/caa.ts';
import { lookUp } from '../../../network/dns/look-up.ts';
import type { Platform } from '../../../platform/platform.ts';
import { createEdgeAddressBook } from '../../hosts/edge-address-book.ts';
import { allHosts, hostServing } from '../../hosts/store.ts';
import { isWildcard } from '../domains/domain-name.ts';
import { caaFailedSentence } from '../status-reports/dns-sentence.ts';
import { probeReach, type Reach, triedBy } from '../status-reports/reach.ts';
import { accountUrl } from './acme-account.ts';
import type { Issuance } from './issuance.ts';

const TIME_LIMIT_MS = 20_000;

export interface Precheck {
  /** Whether visitors of the name arrive here; null if unknown. */
  reached: boolean | null;
  /** One sentence that says why an order would fail and what to do; null if all checks pass. */
  refusal: string | null;
}

/**
 * Checks what the authority would check, so that predictable failures do not use up its rate limits: HTTP-01 can validate
 * the name, it leads here, and its CAA records allow the authority. Throws AcmeRefusal if the directory is unavailable.
 */
export async function precheck(issuance: Issuance, name: string, ended: AbortSignal): Promise<Precheck> {
  const wildcard = wildcardRefusal(name);
  if (wildcard !== null) return { reached: null, refusal: wildcard };
  const { host, internet, platform } = issuance;
  // The same timeout as in status reports, so that a slow name does not delay other orders.
  const signal = AbortSignal.any([ended, AbortSignal.timeout(TIME_LIMIT_MS)]);
  const [reach, findings] = await Promise.all([
    probeReach(name, { host, prober: internet.prober, random: platform.random }, signal),
    lookUp(name, { ...internet, signal }),
  ]);
  const { reached } = reach;
  ended.throwIfAborted();
  if (!reach.arrivesByHttp) {
    const astray = await otherHostSentence(platform, name, reach);
    return { reached, refusal: astray ?? reach.sentence ?? `${name} does not lead here by HTTP.` };
  }
  if (findings.caaFailed) return { reached, refusal: caaFailedSentence(name) };
  return { reached, refusal: await refusalByCaa(issuance, name, findings.caa, ended) };
}

/** One sentence that says why no certificate can be ordered for a wildcard; null for other names. */
export function wildcardRefusal(name: string): string | null {
  if (!isWildcard(name)) return null;
  return `A certificate for ${name} needs DNS validation, which Homeport does not support; upload one, or add the names that you need one by one.`;
}

/** One sentence that says why the records forbid the configured authority to issue; null if they allow it. */
export async function refusalByCaa(
  { authority, platform, directoryUrl }: Pick<Issuance, 'authority' | 'platform' | 'directoryUrl'>,
  name: string,
  caa: Parameters<typeof caaRefusal>[1],
  signal: AbortSignal,
): Promise<string | null> {
  if (caa.length === 0) return null;
  const { identities } = await authority.about(signal);
  return caaRefusal(name, caa, { identities, accountUrl: await accountUrl(platform, directoryUrl) });
}

/**
 * One sentence for a name that leads to another host of this platform. It names the right addresses, because "this platform"
 * would be ambiguous. Null for any other problem.
 */
async function otherHostSentence(
  { config, database }: Pick<Platform, 'config' | 'database'>,
  name: string,
  { arrivals }: Pick<Reach, 'arrivals'>,
): Promise<string | null> {
  const stray = triedBy('http', arrivals).find(({ arrives }) => !arrives);
  if (config.host === 'embedded' || stray === undefined) return null;
  const { reader } = database;
  const [hosts, serving] = await Promise.all([allHosts(reader), hostServing(reader, name)]);
  const host = hosts.find(({ id }) => id === serving);
  const others = hosts.filter(({ id }) => id !== serving);
  if (host === undefined || !others.some(({ edge_addresses }) => edge_addresses.includes(stray.address))) {
    return null;
  }
  const addresses = createEdgeAddressBook(config).leadingTo(host, hosts);
  if (addresses.length === 0 || addresses.includes(stray.address)) return null;
  return `${name} leads to ${stray.address}, a host of this platform that does not serve it; set its DNS record to ${addresses.join(' and ')}.`;
}
