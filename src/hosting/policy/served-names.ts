import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { isServedName, SERVED_NAME } from '../../lib/host-names.ts';
import { PermanentHostError } from '../contract/errors.ts';
import type { InstallState, ServedCertificate } from '../contract/install-state.ts';

const SERVED = new RegExp(`^(?=.{1,255}$)(?:\\*\\.)?${SERVED_NAME}$`);

/** A name that matches, for requests to the website. */
export function askableName(name: string): string {
  return name.startsWith('*.') ? `homeport${name.slice(1)}` : name;
}

/** Throws a {@link PermanentHostError} that says which name cannot be served, and why. */
export function checkNames({ hostnames }: Pick<InstallState, 'hostnames'>): void {
  for (const { name, redirectTo, certificate } of hostnames) {
    if (!SERVED.test(name)) {
      throw new PermanentHostError(`${JSON.stringify(name)} is not a host name in ASCII and lower case`);
    }
    if (redirectTo !== null && !isServedName(redirectTo)) {
      throw new PermanentHostError(
        `${name} redirects to ${JSON.stringify(redirectTo)}, which is not a host name`,
      );
    }
    if (redirectTo === name) throw new PermanentHostError(`${name} redirects to itself`);
    if (certificate !== null) checkCertificate(name, certificate);
  }
}

function checkCertificate(name: string, { chain, key, notAfter }: ServedCertificate): void {
  const refuse = (why: string, cause?: unknown) =>
    new PermanentHostError(`the certificate of ${name} cannot be used: ${why}`, { cause });
  if (Number.isNaN(Date.parse(notAfter))) throw refuse('its end is not a date');
  let matches: boolean;
  try {
    matches = new X509Certificate(chain).checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    // The library's message is not useful, and must not leak parts of the key.
    throw refuse('the chain or the private key is not in PEM form', cause);
  }
  if (!matches) throw refuse('the private key belongs to another certificate');
  try {
    createSecureContext({ cert: chain, key, ciphers: DEBIAN_CIPHERS });
  } catch (cause) {
    const reason = cause instanceof Error && 'reason' in cause ? String(cause.reason) : 'unknown reason';
    throw refuse(`OpenSSL refuses it: ${reason}`, cause);
  }
}

/** With the security level of Debian's OpenSSL, so that every host can use every accepted certificate. */
const DEBIAN_CIPHERS = 'DEFAULT@SECLEVEL=2';
