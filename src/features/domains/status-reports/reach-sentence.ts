import type { NameFindings } from '../../../network/dns/look-up.ts';
import { addressKind } from '../../../network/probe/address-kind.ts';
import { sentence, wrongRecordSentence } from './dns-sentence.ts';
import type { DomainContext } from './domain-context.ts';
import { type Arrival, type Reach, triedBy } from './reach.ts';
import {
  addressesOfFamily,
  edgeLabel,
  isOwnAddress,
  listed,
  recordAdvice,
  removal,
  replacement,
} from './record-advice.ts';

/** One sentence that says why visitors do not reach this platform and what to do; null if they do. */
export function reachSentence(
  context: Pick<DomainContext, 'name' | 'target'>,
  findings: NameFindings,
  reach: Reach,
): string | null {
  const tried = triedBy('http', reach.arrivals);
  if (reach.untried) return untriedSentence(context, findings, tried, reach.sentence);
  const missed = tried.filter(({ arrives }) => !arrives);
  if (missed.length === 0) return httpsSentence(context, reach.arrivals);
  const astray = ownNameSentence(context, findings, missed);
  if (astray !== null) return astray;
  if (missed.length === tried.length) {
    return wrongRecordSentence(findings, context.target) ?? ownAddressSentence(context, missed);
  }
  return straySentence(context, findings, tried, missed);
}

function untriedSentence(
  { name, target }: Pick<DomainContext, 'name' | 'target'>,
  findings: NameFindings,
  tried: Arrival[],
  fallback: string | null,
): string {
  const addresses = listed(tried.map(({ address }) => address));
  const kinds = new Set(tried.map(({ address }) => addressKind(address)));
  const kind = listed([...kinds]);
  if (tried.length === 0) return fallback ?? `${name} has no address.`;
  if (tried.every(({ address }) => isOwnAddress(address, target))) {
    return `${name} leads to the ${kind} address ${addresses}, which checks may not contact; only the operator can allow that.`;
  }
  return sentence(
    recordAdvice(findings, target),
    `${addresses} ${tried.length > 1 ? `are ${kind} addresses` : `is a ${kind} address`} that visitors cannot reach`,
  );
}

/** The install's default domain leads to another machine, as with a wildcard record for another host. */
function ownNameSentence(
  { name, target }: Pick<DomainContext, 'name' | 'target'>,
  { cnames }: NameFindings,
  missed: Arrival[],
): string | null {
  const foreign = missed.map(({ address }) => address).filter((address) => !isOwnAddress(address, target));
  if (cnames[0] !== target.cname || target.addresses.length === 0 || foreign.length === 0) return null;
  return (
    `The CNAME of ${name} is right, but ${target.cname} leads to ${listed(foreign)}, where it is not served; ` +
    `ask your provider to point it to ${edgeLabel(target)}.`
  );
}

/** The DNS is right, so the operator must fix the rest. */
function ownAddressSentence({ name }: Pick<DomainContext, 'name'>, [first]: Arrival[]): string {
  return `The DNS of ${name} is right, but ${first ? obstacle(first) : 'nothing answers'}.`;
}

/** Only some addresses of the name lead here. */
function straySentence(
  context: Pick<DomainContext, 'name' | 'target'>,
  findings: NameFindings,
  tried: Arrival[],
  missed: Arrival[],
): string {
  const { name, target } = context;
  const foreign = missed.filter(({ address }) => !isOwnAddress(address, target));
  const [first] = foreign;
  if (first === undefined) return ownAddressSentence(context, missed);
  if (findings.cnames.length > 0 && findings.cnames[0] !== target.cname) {
    return sentence(
      recordAdvice(findings, target),
      `${listed(findings.cnames.slice(0, 1))} leads elsewhere at ${first.address}`,
    );
  }
  const { family } = first;
  const stray = foreign.filter((arrival) => arrival.family === family).map(({ address }) => address);
  const type = family === 6 ? 'AAAA' : 'A';
  const wanted = addressesOfFamily(family, target);
  const familyArrives = tried.some((arrival) => arrival.family === family && arrival.arrives);
  return sentence(
    familyArrives || wanted.length === 0
      ? removal(name, type, stray)
      : replacement(name, { type, wanted, stray }),
  );
}

function httpsSentence(
  { name, target }: Pick<DomainContext, 'name' | 'target'>,
  arrivals: Arrival[],
): string | null {
  const missed = triedBy('https', arrivals).find(({ arrives }) => !arrives);
  if (missed === undefined) return null;
  if (isOwnAddress(missed.address, target)) {
    return `${name} answers here over HTTP, but not over HTTPS: ${obstacle(missed)}.`;
  }
  return `${name} answers here over HTTP, but not over HTTPS: ${withoutStop(missed.failure ?? '')}; make the CDN or proxy in front of this platform forward HTTPS.`;
}

/** Names the obstacle between visitors and the edge, and who can remove it. */
function obstacle({ scheme, address, problem, failure }: Arrival): string {
  const port = scheme === 'http' ? 80 : 443;
  const fix = `the operator must start the edge there, or open port ${port} in the firewall`;
  switch (problem) {
    case 'refused':
    case 'unreachable':
    case 'no_route':
      return `${address} refuses connections to port ${port}; ${fix}`;
    case 'timeout':
      return `${address} did not answer at port ${port} in time; ${fix}`;
    case 'another_server':
    case 'not_http':
    case 'tls':
      return `another server answers at port ${port} of ${address}; the operator must direct that port to the edge`;
    default:
      return `${withoutStop(failure ?? `${address} does not answer`)}; the operator must check port ${port} there`;
  }
}

function withoutStop(text: string): string {
  return text.replace(/\.$/, '');
}
