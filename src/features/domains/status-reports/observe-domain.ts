import type { Logger } from 'pino';
import type { Host } from '../../../hosting/contract/host.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { lookUp } from '../../../network/dns/look-up.ts';
import type { CaaRecord } from '../../../network/dns/record.ts';
import { type DomainContext, NO_OBSERVATION, type Observation } from './domain-context.ts';
import type { Internet } from './internet.ts';
import { observeTls } from './observe-tls.ts';
import { hostToProbe, probeReach } from './reach.ts';

export interface ObserveParts {
  host: Pick<Host, 'publish' | 'withdraw'>;
  internet: Internet;
  random: Randomness;
  log: Logger;
  /** Null: no authority is configured. */
  refusalByCaa: ((name: string, caa: CaaRecord[], signal: AbortSignal) => Promise<string | null>) | null;
}

/**
 * Observes a domain from outside until `signal` aborts: DNS, reachability, TLS and redirects in parallel. Unfinished parts
 * count as timeouts. `onProgress` gets each partial result.
 */
export async function observeDomain(
  { name, isDuplicate }: DomainContext,
  { host, internet, random, log, refusalByCaa }: ObserveParts,
  signal: AbortSignal,
  onProgress: (observation: Observation) => void,
): Promise<Observation> {
  const { prober } = internet;
  const hostname = hostToProbe(name, random);
  let observation = NO_OBSERVATION;
  const seen = (more: Partial<Observation>) => {
    observation = { ...observation, ...more };
    onProgress(observation);
  };
  await Promise.all([
    dns(),
    // Another install serves a duplicate. A token here would prove nothing, and briefly take the name from that install.
    isDuplicate ? null : probeReach(name, { host, prober, random }, signal).then((reach) => seen({ reach })),
    observeTls(hostname, prober, signal).then((tls) => seen({ tls })),
    prober.follow(new URL(`http://${hostname}/`), signal).then((redirects) => seen({ redirects })),
  ]);
  return observation;

  async function dns(): Promise<void> {
    const onFindings = (findings: Observation['findings']) => seen({ findings });
    const findings = await lookUp(name, {
      resolver: internet.resolver,
      mayContact: internet.mayContact,
      authoritativePort: internet.authoritativePort,
      signal,
      onProgress: onFindings,
    });
    onFindings(findings);
    if (refusalByCaa === null || findings.caa.length === 0) return;
    try {
      seen({ caaRefusal: await refusalByCaa(name, findings.caa, signal) });
    } catch (err) {
      // Without the authority's identity, the rest of the report is still right.
      log.warn(
        { err, domain: name },
        'could not check whether the CAA records allow the certificate authority',
      );
    }
  }
}
