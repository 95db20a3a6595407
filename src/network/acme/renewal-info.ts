import { DAY_SECONDS, MINUTE_SECONDS } from '../../lib/durations.ts';
import type { RenewalWindow } from './authority.ts';
import { AcmeRefusal, ERROR_NAMESPACE } from './refusal.ts';
import type { AcmeSession } from './session.ts';
import { type Directory, parsed, renewalInfoSchema } from './wire.ts';

/** What authorities answer for a certificate that they know nothing of. */
const NOT_OFFERED = new Set(
  ['malformed', 'unauthorized', 'notFound'].map((type) => `${ERROR_NAMESPACE}${type}`),
);

/**
 * The identifier of the first certificate of `chain` (PEM): the key identifier of its issuer and its serial number
 * with a zero byte before a high bit, as in DER, each in base64url (RFC 9773 section 4.1). Null if it does not name its
 * issuer's key.
 */
export async function renewalIdOf(chain: string): Promise<string | null> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const certificate = new x509.X509Certificate(chain);
  const issuer = certificate.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId;
  if (issuer === undefined) return null;
  return `${base64url(issuer)}.${base64url(derInteger(certificate.serialNumber))}`;
}

/** The library leaves out the zero byte that keeps a DER integer positive. */
const derInteger = (hex: string) => (/^[89a-f]/i.test(hex) ? `00${hex}` : hex);

const base64url = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');

/** When the authority suggests to renew the certificate; null if it offers no suggestions, or none for this one. */
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
  // Section 4.2: such a window counts as no answer. Also for a date that cannot be read.
  if (!(start < end)) return null;
  const ms = retryAfterMs();
  // Section 4.3.2: clients set limits of their own to what is asked.
  const retryAfterSeconds =
    ms === null ? null : Math.min(Math.max(Math.ceil(ms / 1000), MINUTE_SECONDS), DAY_SECONDS);
  return { start, end, retryAfterSeconds };
}
