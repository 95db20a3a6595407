import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { IssuedCertificate } from './authority.ts';
import { AcmeRefusal, ERROR_NAMESPACE } from './refusal.ts';
import { renewalIdOf } from './renewal-info.ts';
import type { AcmeClient } from './session.ts';

/** ub-common-name, RFC 5280 appendix A.1. */
const MAX_COMMON_NAME = 64;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** Creates an ECDSA P-256 key and a certificate request for `name` that is signed with it, both PEM. */
export async function createCertificateRequest(
  { crypto }: AcmeClient,
  name: string,
): Promise<{ key: string; csr: string }> {
  const [key, csr] = await crypto.createCsr(
    { altNames: [name], ...(name.length <= MAX_COMMON_NAME ? { commonName: name } : {}) },
    await crypto.createPrivateEcdsaKey('P-256'),
  );
  return { key: key.toString(), csr: csr.toString() };
}

/** Reads the certificate chain that the authority sent. Throws AcmeRefusal unless it is for `name` and `key`. */
export async function readIssued(
  sent: unknown,
  { name, key }: { name: string; key: string },
): Promise<Omit<IssuedCertificate, 'orderUrl'>> {
  const blocks = typeof sent === 'string' ? (sent.match(PEM_CERTIFICATE) ?? []) : [];
  const [leaf] = blocks.map(parseCertificate);
  if (leaf === undefined) throw unusable(name, 'it is not a chain of PEM certificates');
  if (leaf.checkHost(name, { subject: 'never' }) === undefined)
    throw unusable(name, 'it is for another name');
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw unusable(name, 'it is for another key');
  const notBefore = new Date(leaf.validFrom);
  const notAfter = new Date(leaf.validTo);
  // Also false for an invalid date.
  if (!(notBefore < notAfter)) throw unusable(name, 'it is never valid');
  const chain = `${blocks.join('\n')}\n`;
  return { chain, key, notBefore, notAfter, renewalId: await renewalIdOf(chain) };

  function parseCertificate(pem: string): X509Certificate {
    try {
      return new X509Certificate(pem);
    } catch (error) {
      throw unusable(name, 'it cannot be read', error);
    }
  }
}

function unusable(name: string, reason: string, cause?: unknown): AcmeRefusal {
  return new AcmeRefusal(
    `${ERROR_NAMESPACE}serverInternal`,
    `The certificate that the certificate authority issued for ${name} cannot be used: ${reason}.`,
    { cause },
  );
}
