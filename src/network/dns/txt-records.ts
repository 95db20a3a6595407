import { askAuthoritativeServers } from './authoritative-servers.ts';
import type { DnsAnswer } from './client.ts';
import { canonicalName, isAskable, isLocalhost } from './domain-name.ts';
import { findZone, type LookUpOptions } from './look-up.ts';

/**
 * Looks up the TXT records of exactly this name; null if that failed. Queries the zone's servers first, because caches hide
 * recent changes. The resolver counts only if none of them answers. Does not follow CNAMEs, because the target of a
 * wildcard CNAME would then control the whole zone. Network errors never throw.
 */
export async function lookUpTxtRecords(
  name: string,
  { resolver, signal, mayContact, authoritativePort: port = 53 }: Omit<LookUpOptions, 'onProgress'>,
): Promise<string[] | null> {
  const wanted = canonicalName(name);
  if (!isAskable(wanted) || isLocalhost(wanted)) return null;
  const cut = await findZone(wanted, (asked) => resolver.resolve(asked, 'SOA', signal));
  if (cut !== null) {
    const named = await resolver.resolve(cut.zone, 'NS', signal).catch(() => null);
    const ns = (named?.answers ?? []).flatMap((record) =>
      record.type === 'NS' && record.hdr.name === cut.zone ? [record.target] : [],
    );
    const options = { resolver, signal, mayContact, port, types: ['TXT'] } as const;
    const { answers } = await askAuthoritativeServers(wanted, cut.zone, ns, options);
    if (answers.length > 0) return [...new Set(answers.flatMap((answer) => textsIn(answer, wanted)))];
  }
  const answer = await resolver.resolve(wanted, 'TXT', signal).catch(() => null);
  if (answer?.rcode === 'NXDOMAIN') return [];
  return answer?.rcode === 'NOERROR' ? textsIn(answer, wanted) : null;
}

function textsIn({ answers }: DnsAnswer, name: string): string[] {
  return answers.flatMap((record) =>
    record.type === 'TXT' && record.hdr.name === name ? [record.text] : [],
  );
}
