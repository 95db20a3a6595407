import { AcmeRefusal } from './refusal.ts';

/** Why there was no usable answer, by the codes of Node, OpenSSL and axios. */
const REASONS: [RegExp, string][] = [
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its host name cannot be looked up'],
  [/^ECONNREFUSED$/, 'it refuses connections'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'no network leads there'],
  [/^(ECONNRESET|EPIPE)$/, 'it closed the connection'],
  [/^(ETIMEDOUT|TimeoutError)$/, 'it does not answer in time'],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, 'its own certificate is not valid now'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its own certificate is for another name'],
  [
    /^(UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_|CERT_)/,
    'its own certificate is from an unknown issuer; configure that issuer if it is to be trusted',
  ],
  [/^(ERR_SSL|ERR_TLS|EPROTO)/, 'it does not speak TLS as expected'],
];

/** A refusal of type `unreachable`, as `fault` kept the authority at `directoryUrl` from answering. */
export function unreachable(directoryUrl: string, fault: unknown): AcmeRefusal {
  const codes = codesOf(fault);
  const reason = REASONS.find(([pattern]) => codes.some((code) => pattern.test(code)))?.[1];
  return unusable(directoryUrl, reason ?? 'its answer cannot be understood', fault);
}

/** A refusal of type `unreachable` for a `reason` in words. */
export function unusable(directoryUrl: string, reason: string, cause?: unknown): AcmeRefusal {
  const host = URL.canParse(directoryUrl) ? new URL(directoryUrl).host : 'the configured address';
  const message = `The certificate authority at ${host} cannot be used now: ${reason}.`;
  return new AcmeRefusal('unreachable', message, { cause });
}

/** The codes and names of an error and of those that caused it or are gathered in it. */
function codesOf(fault: unknown, depth = 0): string[] {
  if (!(fault instanceof Error) || depth > 4) return [];
  const code = 'code' in fault && typeof fault.code === 'string' ? [fault.code] : [];
  const within = fault instanceof AggregateError ? fault.errors : [];
  return [...code, fault.name, ...[fault.cause, ...within].flatMap((one) => codesOf(one, depth + 1))];
}
