import { DAY_SECONDS, MINUTE_SECONDS } from '../../lib/durations.ts';
import type { RenewalWindow } from './authority.ts';
import { AcmeRefusal, ERROR_NAMESPACE } from './refusal.ts';
import type { AcmeSession } from './session.ts';
import { type Directory, parsed, renewalInfoSchema } from './wire.ts';

/** Errors with which authorities answer for a certificate that they do not know. */
const NOT_OFFERED = new Set(
  ['malformed', 'unauthorized', 'notFound'].map((type) => `${ERROR_NAMESPACE}${type}`),
);

/**
 * The renewal identifier of the first certificate of `chain` (PEM): its issuer's key identifier and its serial number
 * as a DER integer, each in base64url (RFC 9773 section 4.1). Null if it does not name its issuer's key in a form that can be read.
 */
export async function renewalIdOf(chain: string): Promise<string | null> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  try {
    const certificate = new x509.X509Certificate(chain);
    const issuer = certificate.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId;
    if (issuer === undefined) return null;
    return `${base64url(issuer)}.${base64url(derInteger(certificate.serialNumber))}`;
  } catch {
    // The library refuses what OpenSSL reads, such as thousands of names. The certificate works without the identifier.
    return null;
  }
}

/** Adds the zero byte that keeps a DER integer positive, which the library leaves out. */
const derInteger = (hex: string) => (/^[89a-f]/i.test(hex) ? `00${hex}` : hex);

const base64url = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');

/** The renewal window that the authority suggests; null if it suggests none. Throws AcmeRefusal. */
export async function readRenewalWindow(
  { acme, within, retryAfterMs }: AcmeSession,
  directory: Directory,
  chain: string,
): Promise<RenewalWindow | null> {
  if (directory.renewalInfo === undefined) return null;
  const id = await renewalIdOf(chain);
  if (id === null) return null;
  const asked = acme.axios.get<unknown>(`${directory.renewalInfo.replace(/\/$/, '')}/${id}`);
  const answer = await within(asked).catch((error: unknown) => {
    if (error instanceof AcmeRefusal && NOT_OFFERED.has(error.type)) return null;
    throw error;
  });
  if (answer === null) return null;
  const { suggestedWindow } = parsed(renewalInfoSchema, answer.data, 'a renewal time');
  const start = new Date(suggestedWindow.start);
  const end = new Date(suggestedWindow.end);
  // Section 4.2: such a window counts as no answer. Also true for an invalid date.
  if (!(start < end)) return null;
  const ms = retryAfterMs();
  // Section 4.3.2: clients limit Retry-After to a sensible range.
  const retryAfterSeconds =
    ms === null ? null : Math.min(Math.max(Math.ceil(ms / 1000), MINUTE_SECONDS), DAY_SECONDS);
  return { start, end, retryAfterSeconds };
}
