import { getDomain } from '../../../lib/public-suffixes.ts';
import { LONGEST_CHAIN } from '../../../network/dns/cname-chain.ts';
import type { DnsProblem, NameFindings } from '../../../network/dns/look-up.ts';
import type { DnsTarget, DomainContext } from './domain-context.ts';
import {
  edgeLabel,
  leadsHere,
  listed,
  presentRecords,
  type RecordAdvice,
  recordAdvice,
} from './record-advice.ts';

/** One sentence that says how to fix a DNS problem. */
export function problemSentence(
  problem: DnsProblem,
  findings: NameFindings,
  { name, target }: Pick<DomainContext, 'name' | 'target'>,
): string {
  const advice = recordAdvice(findings, target);
  switch (problem.kind) {
    case 'nxdomain': {
      const registrable = getDomain(name, { validateHostname: false }) ?? name;
      return problem.unregistered
        ? `Register the domain ${registrable}, or correct its spelling here; it does not exist in the DNS.`
        : sentence(advice, `${name} does not exist in the DNS`);
    }
    case 'no_address':
      return sentence(advice, `${name} has no address yet`);
    case 'servfail':
      return `Ask the DNS provider of ${name} to fix its zone${problem.zone ? ` ${problem.zone}` : ''} (name servers, DNSSEC); resolvers get SERVFAIL for it.`;
    case 'resolver_error':
      return `The DNS resolver of this platform answered ${problem.rcode} for ${name}; check again in a minute, and ask the operator to check the resolvers if it still fails.`;
    case 'timeout':
      return `The name servers of ${name} did not answer in time; check again in a minute, and contact its DNS provider if they still fail.`;
    case 'unreachable':
      return `No DNS resolver could be reached to look up ${name}; check again in a minute, and ask the operator to check the resolvers if it still fails.`;
    case 'lame':
      return `Set up the zone ${problem.zone} at ${listed(problem.servers)}, or correct its name servers at the registrar; the zone is delegated to them, but they do not serve it.`;
    case 'cname_at_apex':
      return target.addresses.length > 0
        ? sentence(advice, 'a domain apex cannot have a CNAME')
        : `Replace the CNAME of ${name} with an ALIAS record (also called ANAME) to ${target.cname}; a domain apex cannot have a CNAME.`;
    case 'cname_loop':
      return `Set the CNAME of ${name} to ${target.cname}; the current ones form a loop: ${problem.names.join(', ')}.`;
    case 'long_cname_chain':
      return `Set the CNAME of ${name} to ${target.cname} directly; more than ${LONGEST_CHAIN} CNAMEs follow one another now, and resolvers give up.`;
    case 'dangling_cname':
      return problem.target === target.cname
        ? `The CNAME of ${name} is right, but ${target.cname} has no address; ask your provider to point it to ${edgeLabel(target)}.`
        : sentence(advice, `it points to ${problem.target} now, which has no address`);
  }
}

/** A failed look-up forbids every authority to issue (RFC 8659 section 3). */
export function caaFailedSentence(name: string): string {
  return `The CAA records of ${name} cannot be looked up, so no authority may issue a certificate; fix its name servers.`;
}

/** One sentence about caches that still hold old records; null unless that is the only problem. */
export function staleSentence(findings: NameFindings, target: DnsTarget): string | null {
  const { name, staleSeconds, authoritative } = findings;
  if (staleSeconds === null || authoritative === null) return null;
  if (!leadsHere(authoritative, { ...findings, a: [], aaaa: [] }, target)) return null;
  return `The DNS of ${name} is right at its name servers; caches may keep the old answer for up to ${duration(staleSeconds)} more.`;
}

/** One sentence that names the record to set and its present value; null if the DNS leads here. */
export function wrongRecordSentence(findings: NameFindings, target: DnsTarget): string | null {
  if (leadsHere(presentRecords(findings), findings, target)) return null;
  return sentence(recordAdvice(findings, target));
}

export function sentence({ what, now }: RecordAdvice, remark: string | null = now): string {
  return remark === null ? `${what}.` : `${what}; ${remark}.`;
}

function duration(seconds: number): string {
  const [amount, unit] =
    seconds < 100
      ? [Math.max(seconds, 1), 'second']
      : seconds < 100 * 60
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3600), 'hour'];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}
