import { getDomain } from 'tldts';
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

/** What is to be done about a problem of the DNS, one sentence. */
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
      return `Have the DNS provider of ${name} mend its zone${problem.zone ? ` ${problem.zone}` : ''} (name servers, DNSSEC); resolvers get a failure (SERVFAIL) for it.`;
    case 'timeout':
      return `The name servers of ${name} did not answer in time; look again in a minute, and ask its DNS provider if it stays so.`;
    case 'unreachable':
      return `No DNS resolver could be reached to look up ${name}; the operator has to see to that.`;
    case 'lame':
      return `Set up the zone ${problem.zone} at ${listed(problem.servers)}, or correct its name servers at the registrar; it is delegated there, but they do not serve it.`;
    case 'cname_at_apex':
      return target.addresses.length > 0
        ? sentence(advice, 'the top of a domain can have no CNAME')
        : `Replace the CNAME of ${name} by an ALIAS record (also called ANAME) to ${target.cname}; the top of a domain can have no CNAME.`;
    case 'cname_loop':
      return `Set the CNAME of ${name} to ${target.cname}; the present ones lead in a circle: ${problem.names.join(', ')}.`;
    case 'dangling_cname':
      return problem.target === target.cname
        ? `The CNAME of ${name} is right, but ${target.cname} has no address; tell your provider, who has to point it to ${edgeLabel(target)}.`
        : sentence(advice, `it points to ${problem.target} now, which has no address`);
  }
}

/** RFC 8659 section 3: what cannot be looked up forbids every authority. */
export function caaFailedSentence(name: string): string {
  return `The CAA records of ${name} cannot be looked up, so no authority may issue; its name servers have to answer.`;
}

/** 'The DNS … is right at its name servers; caches …'; null unless that is all that is wrong. */
export function staleSentence(findings: NameFindings, target: DnsTarget): string | null {
  const { name, staleSeconds, authoritative } = findings;
  if (staleSeconds === null || authoritative === null) return null;
  if (!leadsHere(authoritative, { ...findings, a: [], aaaa: [] }, target)) return null;
  return `The DNS of ${name} is right at its name servers; caches give the old answer for up to ${duration(staleSeconds)} more.`;
}

/** Which record to set, and what it is now; null where the DNS leads here. */
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
