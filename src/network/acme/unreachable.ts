import { AcmeRefusal } from './refusal.ts';

/** Reasons for a missing answer, by the error codes of Node, OpenSSL and axios. */
const REASONS: [RegExp, string][] = [
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its host name cannot be looked up'],
  [/^ECONNREFUSED$/, 'it refuses connections'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'there is no route to it'],
  [/^(ECONNRESET|EPIPE)$/, 'it closed the connection'],
  [/^(ETIMEDOUT|TimeoutError)$/, 'it did not answer in time'],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, 'its TLS certificate is not valid now'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its TLS certificate is for another name'],
  [
    /^(UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_|CERT_)/,
    'its TLS certificate is from an unknown issuer; to trust that issuer, configure it',
  ],
  [/^(ERR_SSL|ERR_TLS|EPROTO)/, 'it does not speak TLS as expected'],
];

/** Builds a refusal of type `unreachable` for the error that kept the authority from answering. */
export function unreachable(directoryUrl: string, fault: unknown): AcmeRefusal {
  const codes = codesOf(fault);
  const reason = REASONS.find(([pattern]) => codes.some((code) => pattern.test(code)))?.[1];
  return unusable(directoryUrl, reason ?? 'its answer is not valid ACME', fault);
}

/** Builds a refusal of type `unreachable` with a `reason` in words. */
export function unusable(directoryUrl: string, reason: string, cause?: unknown): AcmeRefusal {
  const host = URL.canParse(directoryUrl) ? new URL(directoryUrl).host : 'the configured address';
  const message = `The certificate authority at ${host} cannot be used now: ${reason}.`;
  return new AcmeRefusal('unreachable', message, { cause });
}

/** The codes and names of an error, its causes and its aggregated errors. */
function codesOf(fault: unknown, depth = 0): string[] {
  if (!(fault instanceof Error) || depth > 4) return [];
  const code = 'code' in fault && typeof fault.code === 'string' ? [fault.code] : [];
  const within = fault instanceof AggregateError ? fault.errors : [];
  return [...code, fault.name, ...[fault.cause, ...within].flatMap((one) => codesOf(one, depth + 1))];
}
