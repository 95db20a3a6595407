import { MINUTE_MS } from '../../../lib/durations.ts';
import type { ProbedWebsite } from '../../websites/probe/visited-page.ts';
import { type PageFault, probeVisitors, type VisitorProbe } from '../../websites/probe/visitor-probe.ts';
import { cleanReason } from '../../wordpress/website-text.ts';
import { type AskedEdge, requireWordPress, type VisitedWebsite } from '../../wordpress/wordpress-answers.ts';
import type { EmbeddedAddresses } from '../host-options.ts';
import { onLoopback } from '../serving.ts';
import type { SiteFacts } from './site.ts';

/** Its PHP may have to start first, on a slow machine. */
const TIMEOUT_MS = 2 * MINUTE_MS;

/** A website with all its host names. */
type NamedSite = Pick<SiteFacts, 'origin' | 'passKey'> & { names: readonly string[] };

/** Rejects with a `BrokenWebsiteError` unless WordPress generates the home page of a website. */
export function requireHomePage(
  site: NamedSite,
  addresses: EmbeddedAddresses,
  signal?: AbortSignal,
): Promise<void> {
  return requireWordPress(visited(site), edgeOf(addresses), signal, TIMEOUT_MS);
}

/** The faults that visitors of a website see, on one line without a full stop; null if all works. */
export async function visitorsWarning(
  site: NamedSite,
  addresses: EmbeddedAddresses,
  signal?: AbortSignal,
): Promise<string | null> {
  const [fault, ...others] = await visitorFaults(site, addresses, { signal });
  if (fault === undefined) return null;
  return cleanReason(others.length === 0 ? fault.text : `${fault.text} (and ${others.length} more)`);
}

/** The pages of a website that do not work for its visitors. `fatals`: the newest ones of its PHP, to name the cause. */
export function visitorFaults(
  site: NamedSite,
  addresses: Pick<EmbeddedAddresses, 'edgeHttp' | 'edgeHttps'>,
  probe: Pick<VisitorProbe, 'fatals' | 'signal'>,
): Promise<PageFault[]> {
  return probeVisitors(probedWebsite(site, addresses), { timeoutMs: TIMEOUT_MS, ...probe });
}

/** A website and how to reach it. */
export const probedWebsite = (
  site: NamedSite,
  addresses: Pick<EmbeddedAddresses, 'edgeHttp' | 'edgeHttps'>,
): ProbedWebsite => ({ website: visited(site), edge: edgeOf(addresses) });

function visited({ origin, passKey, names }: NamedSite): VisitedWebsite {
  const { protocol, hostname: primaryHostname } = new URL(origin);
  return { primaryHostname, secure: protocol === 'https:', names, passKey };
}

const edgeOf = ({ edgeHttp, edgeHttps }: Pick<EmbeddedAddresses, 'edgeHttp' | 'edgeHttps'>): AskedEdge => ({
  http: onLoopback(edgeHttp),
  https: onLoopback(edgeHttps),
});
