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
 * Looks at a domain from outside, everything side by side, until `signal` ends it: what is not seen by then is told as a
 * time-out. `onProgress` gets what was seen so far.
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
    // Another install serves a duplicate: a token here would prove nothing, and take the name from it for a moment.
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
      // An authority that does not say who it is leaves the rest of the report true.
      log.warn(
        { err, domain: name },
        'could not tell whether the CAA records allow the certificate authority',
      );
    }
  }
}
