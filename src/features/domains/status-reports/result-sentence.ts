import { isUnknown } from '../../../network/dns/dns-problem.ts';
import { isLocalhost } from '../../../network/dns/domain-name.ts';
import type { DnsProblem } from '../../../network/dns/look-up.ts';
import type { TlsProblem } from '../../../network/probe/prober.ts';
import { chainUrls } from '../../../network/probe/redirect-chain.ts';
import { quotable } from '../../../network/probe/untrusted-text.ts';
import { isWildcard } from '../domains/domain-name.ts';
import { caaFailedSentence, problemSentence, staleSentence } from './dns-sentence.ts';
import type { DomainContext, Observation } from './domain-context.ts';
import { reachSentence } from './reach-sentence.ts';
import { edgeLabel } from './record-advice.ts';

/**
 * One sentence for the domain's owner: that all is well, or what to change first, where and to which value (docs/api.md,
 * Status reports). Problems that block everything else come first.
 */
export function resultSentence(context: DomainContext, observation: Observation): string {
  const { name, challenge } = context;
  if (challenge !== null) {
    return `${name} is not served until you verify it: add a TXT record with the name ${challenge.key} and the value ${challenge.value}, then verify the domain.`;
  }
  if (context.isDuplicate) return `${name} is served by another install; remove it there to serve it here.`;
  if (context.networkStatus === 'FAILED') {
    return `The edge could not start to serve ${name}; the operator can find the cause in the log.`;
  }
  return (
    wayHere(context, observation) ??
    redirectSentence(name, observation) ??
    pendingSentence(context) ??
    tlsSentence(context, observation) ??
    (context.isCname ? `The edge serves ${name}.` : `${name} answers here over HTTPS.`)
  );
}

/** One sentence about the problem that keeps all visitors away; null if there is none. */
function wayHere(context: DomainContext, { findings, reach }: Observation): string | null {
  const { name, target, isCname } = context;
  if (findings === null || reach === null)
    return `${name} could not be looked up in time; request another report.`;
  if (reach.untried && isLocalhost(name)) {
    return `The edge serves ${name}, a name of this machine only, which visitors elsewhere cannot reach.`;
  }
  const { problem } = findings;
  const blocking = problem !== null && !(reach.arrivesByHttp && isUnknown(problem));
  const cause =
    (reach.arrivesByHttp ? null : staleSentence(findings, target)) ??
    (blocking ? problemSentence(problem, findings, context) : null) ??
    reachSentence(context, findings, reach);
  if (cause === null || !isCname || isUnanswered(problem)) return cause;
  // Customers cannot change the DNS of default domains.
  return reach.arrivesByHttp
    ? cause
    : `The edge serves ${name}, but visitors cannot reach it; ask your provider to point it to ${edgeLabel(target)} in the DNS and open ports 80 and 443.`;
}

/** Without an answer, nothing is known about the name. */
const isUnanswered = (problem: DnsProblem | null): boolean =>
  problem?.kind === 'timeout' || problem?.kind === 'unreachable';

function redirectSentence(name: string, { redirects }: Observation): string | null {
  if (!redirects?.failure) return null;
  const { failure, last } = redirects;
  switch (failure.problem) {
    case 'redirect_loop':
      return `${name} answers here, but redirects in a loop (${chainUrls(redirects).map(quotable).join(' -> ')}); remove one of these redirects, and make any CDN in front fetch over HTTPS.`;
    case 'too_many_redirects':
    case 'bad_redirect':
      return `${name} answers here, but visitors see no page: ${failure.message}`;
    default:
      // Without any response, the sentence about reachability says more.
      return last !== null ? `${name} answers here, but its redirects fail: ${failure.message}` : null;
  }
}

function pendingSentence({ name, networkStatus }: DomainContext): string | null {
  return networkStatus === 'PENDING'
    ? `The edge is starting to serve ${name}; check again in a moment.`
    : null;
}

function tlsSentence(context: DomainContext, observation: Observation): string | null {
  const { tls } = observation;
  if (tls === null) return null;
  const { name, sslReason, hasAuthority, isCname } = context;
  const answers = isCname ? `The edge serves ${name}` : `${name} answers here`;
  const caa = caaSentence(context, observation);
  if (tls.failure === null) {
    return caa === null ? null : `${answers} over HTTPS, but its certificate cannot be renewed: ${caa}`;
  }
  const { problem, sentence } = tls.failure;
  if (caa !== null) return caa;
  if (sslReason !== null) return `${answers}, but ${REFUSED[problem] ?? 'not securely'}: ${sslReason}`;
  if (problem !== 'self_signed') return `${answers}, but not securely: ${sentence}`;
  return hasAuthority
    ? `${answers} with a self-signed certificate until the authority has issued one; check again in a few minutes.`
    : `${answers} with a self-signed certificate, which browsers warn about; the operator must configure a certificate authority.`;
}

/** The CAA problem that keeps the authority from issuing; null for wildcards, which are never ordered. */
function caaSentence(
  { name, hasAuthority }: DomainContext,
  { findings, caaRefusal }: Observation,
): string | null {
  if (!hasAuthority || isWildcard(name)) return null;
  return caaRefusal ?? (findings?.caaFailed ? caaFailedSentence(name) : null);
}

const REFUSED: Partial<Record<TlsProblem, string>> = {
  expired: 'with an expired certificate',
  not_yet_valid: 'with a certificate that is not valid yet',
  wrong_name: 'with a certificate for another name',
  self_signed: 'with a self-signed certificate, which browsers warn about',
  incomplete_chain: 'with an incomplete certificate chain',
  unknown_issuer: 'with a certificate that browsers do not trust',
};
