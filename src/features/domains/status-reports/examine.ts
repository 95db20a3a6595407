import type { Logger } from 'pino';
import type { Host } from '../../../hosting/contract/host.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { lookUp } from '../../../network/dns/look-up.ts';
import type { CaaRecord } from '../../../network/dns/record.ts';
import type { Internet } from './internet.ts';
import { probeReach, visitedName } from './reach.ts';
import { NOTHING_SEEN, type Sight, type Standing } from './standing.ts';
import { seeTls } from './tls-sight.ts';

export interface ExamineParts {
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
export async function examine(
  { name, isDuplicate }: Standing,
  { host, internet, random, log, refusalByCaa }: ExamineParts,
  signal: AbortSignal,
  onProgress: (sight: Sight) => void,
): Promise<Sight> {
  const { visitor } = internet;
  const hostname = visitedName(name, random);
  let sight = NOTHING_SEEN;
  const seen = (more: Partial<Sight>) => {
    sight = { ...sight, ...more };
    onProgress(sight);
  };
  await Promise.all([
    dns(),
    // Another install serves a duplicate: a token here would prove nothing, and take the name from it for a moment.
    isDuplicate ? null : probeReach(name, { host, visitor, random }, signal).then((reach) => seen({ reach })),
    seeTls(hostname, visitor, signal).then((tls) => seen({ tls })),
    visitor.follow(new URL(`http://${hostname}/`), signal).then((journey) => seen({ journey })),
  ]);
  return sight;

  async function dns(): Promise<void> {
    const onFindings = (findings: Sight['findings']) => seen({ findings });
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
