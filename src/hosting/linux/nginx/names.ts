import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { isServedName, SERVED_NAME } from '../../../lib/host-names.ts';
import type { Hostname, InstallState } from '../../contract/host.ts';
import { PermanentHostError, type ServedCertificate } from '../../contract/host.ts';
import { type RedirectRule, redirectScheme, type Scheme } from '../../policy/redirects.ts';
import { literally, quotedPattern } from './quote.ts';

const SERVED = new RegExp(`^(?=.{1,255}$)(?:\\*\\.)?${SERVED_NAME}$`);
/** How the web server answers requests for a name by one scheme. */
export type Behaviour =
  | { kind: 'serve' }
  | {
      /** 301, keeping path and query. */
      kind: 'redirect';
      scheme: Scheme;
      /** Null: the name in the request. */
      name: string | null;
    };

/** A host name with its behaviour. */
export interface ServedName {
  /** `*.example.com` matches one label. */
  name: string;
  http: Behaviour;
  https: Behaviour;
  /** Null: the web server's own certificate. */
  certificate: ServedCertificate | null;
}

/**
 * The behaviour of an install's names at the time `now`. HTTP is redirected to HTTPS only if the name has a valid certificate;
 * HTTPS requests stay on HTTPS.
 */
export function servedNames(hostnames: Hostname[], now: Date): ServedName[] {
  const byName = new Map(hostnames.map((hostname) => [hostname.name, hostname]));
  return [...byName.values()].map((hostname) => {
    const { name, redirectTo, certificate } = hostname;
    const target = redirectTo === null ? hostname : byName.get(redirectTo);
    const behaviour = (from: Scheme): Behaviour => {
      const scheme = redirectScheme(ruleOf(hostname), target && ruleOf(target), from, now);
      return scheme === null ? { kind: 'serve' } : { kind: 'redirect', scheme, name: redirectTo };
    };
    return { name, http: behaviour('http'), https: behaviour('https'), certificate };
  });
}

function ruleOf({ redirectTo, forceHttps, certificate }: Hostname): RedirectRule {
  const certifiedUntil = certificate === null ? null : Date.parse(certificate.notAfter);
  return { redirectTo, forceHttps, certifiedUntil };
}

/**
 * The next time, in milliseconds, at which {@link servedNames} changes because a certificate used for redirects expires;
 * infinity if none does.
 */
export function changesAt(hostnames: Hostname[], now: Date): number {
  const ends = hostnames.flatMap(({ certificate }) =>
    certificate === null ? [] : [Date.parse(certificate.notAfter) + 1],
  );
  return Math.min(...ends.filter((end) => end > now.getTime()), Number.POSITIVE_INFINITY);
}

/** The name for `server_name`. nginx's own wildcards would match several labels. */
export function serverName(name: string): string {
  if (!name.startsWith('*.')) return name;
  return quotedPattern(`~^[^.]+\\.${literally(name.slice(2))}$`);
}

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
}

/** With the security level of Debian's OpenSSL. */
const DEBIAN_CIPHERS = 'DEFAULT@SECLEVEL=2';

/**
 * Throws a {@link PermanentHostError} if nginx could not use a certificate that it can parse, such as one with a short key. Call
 * {@link checkNames} before.
 */
export function checkKeyStrength({ hostnames }: Pick<InstallState, 'hostnames'>): void {
  for (const { name, certificate } of hostnames) {
    if (certificate === null) continue;
    const { chain, key } = certificate;
    try {
      createSecureContext({ cert: chain, key, ciphers: DEBIAN_CIPHERS });
    } catch (cause) {
      const reason = cause instanceof Error && 'reason' in cause ? String(cause.reason) : 'unknown reason';
      throw new PermanentHostError(
        `the certificate of ${name} cannot be used: OpenSSL refuses it: ${reason}`,
        {
          cause,
        },
      );
    }
  }
}
