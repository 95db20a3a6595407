import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hasSigned, isSelfSigned, rootsAbove } from './issuers.ts';
import { parsePeerCertificate, presentedChain } from './peer-certificate.ts';
import { quotable } from './untrusted-text.ts';

export type TlsProblem =
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_name'
  | 'self_signed'
  | 'incomplete_chain'
  | 'unknown_issuer'
  | 'no_tls'
  | 'refused'
  | 'timeout'
  | 'reset'
  | 'private_address'
  | 'unreachable'
  | 'alert'
  /** The certificate ended the process that read it. */
  | 'unreadable';

/** A problem that browsers would report, with one sentence that says what to do. */
export interface TlsFailure {
  problem: TlsProblem;
  sentence: string;
}

export interface PresentedCertificate {
  /** The server's certificate from the handshake, linked to the rest of its chain. */
  leaf: X509Certificate;
  /** OpenSSL's error name for the chain, or null if it accepts it. Host names are not checked by it. */
  verifyError: string | null;
  /** The requested name or IP address. */
  host: string;
  now: Date;
  /** All trusted roots. Called only if OpenSSL's error says nothing about the issuer. */
  roots: () => X509Certificate[];
}

/** OpenSSL reports these instead of problems with the issuer, and uses the system's time. */
const OF_TIME = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'];
/** The issuer of the last certificate is unknown. */
const NO_ISSUER = [
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** Finds the most useful problem with a server's certificate; null if there is none. */
export function tlsVerdict(shown: PresentedCertificate): TlsFailure | null {
  return wrongTime(shown) ?? wrongName(shown) ?? wrongIssuer(shown);
}

function wrongTime({ leaf, host, now }: PresentedCertificate): TlsFailure | null {
  if (now > leaf.validToDate) {
    return fault('expired', host, `expired on ${day(leaf.validToDate)}; renew it`);
  }
  if (now < leaf.validFromDate) {
    return fault(
      'not_yet_valid',
      host,
      `is valid only from ${day(leaf.validFromDate)} on; check the clock of the machine that created it, or install one that is valid now`,
    );
  }
  return null;
}

function wrongName({ leaf, host }: PresentedCertificate): TlsFailure | null {
  // Like browsers, ignore the common name (RFC 9525 section 2).
  const matches = isIP(host) === 0 ? leaf.checkHost(host, { subject: 'never' }) : leaf.checkIP(host);
  if (matches !== undefined) return null;
  const { dnsNames, commonName } = parsePeerCertificate(leaf);
  const names = dnsNames.length > 0 ? dnsNames : [commonName].filter((name) => name !== '');
  const others = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : '';
  const listed = names.slice(0, SHOWN_NAMES).map(quotable).join(', ');
  return fault(
    'wrong_name',
    host,
    names.length === 0
      ? 'names no host; install one that does'
      : `is for ${listed}${others} and does not cover it; install one that does`,
  );
}

const SHOWN_NAMES = 3;

function wrongIssuer(shown: PresentedCertificate): TlsFailure | null {
  const { leaf, verifyError, host, now } = shown;
  if (verifyError === null) return null;
  const path = pathOf(leaf);
  if (OF_TIME.includes(verifyError)) {
    const late = path.find(({ validToDate }) => now > validToDate);
    if (late) {
      return fault(
        'expired',
        host,
        `is signed by "${nameOf(late)}", whose own certificate expired on ${day(late.validToDate)}; install the current chain of the issuer`,
      );
    }
    if (rootsAbove(path, shown.roots()).length > 0) return null;
  }
  const top = path.at(-1) ?? leaf;
  const issuer = quotable(parsePeerCertificate(top).issuer);
  if (isSelfSigned(leaf)) {
    return fault(
      'self_signed',
      host,
      'is self-signed, and browsers warn about it; get one from a certificate authority',
    );
  }
  if (OF_TIME.includes(verifyError) || NO_ISSUER.includes(verifyError)) {
    return lacksIntermediate(path)
      ? fault(
          'incomplete_chain',
          host,
          `comes without the intermediate certificate of its issuer "${issuer}"; install the complete chain`,
        )
      : unknownIssuer(host, issuer);
  }
  if (verifyError === 'SELF_SIGNED_CERT_IN_CHAIN') return unknownIssuer(host, issuer);
  return fault(
    'unknown_issuer',
    host,
    `does not pass verification (${quotable(verifyError)}); get a new one from a certificate authority that browsers trust`,
  );
}

function unknownIssuer(host: string, issuer: string): TlsFailure {
  return fault(
    'unknown_issuer',
    host,
    `is signed by "${issuer}", which browsers do not trust; get one from a certificate authority that they trust`,
  );
}

/**
 * Whether the intermediate is missing, rather than the issuer unknown. Public authorities put the URL of the intermediate
 * in the certificate. If other certificates came with it, they are the wrong ones.
 */
function lacksIntermediate(path: X509Certificate[]): boolean {
  const [leaf, ...above] = path;
  if (leaf === undefined || above.length > 0) return false;
  return presentedChain(leaf).length > 1 || (leaf.infoAccess ?? '').includes('CA Issuers - URI:');
}

/** Longer than real chains. Verifying a forged long chain would cost time. */
const MAX_CONSIDERED = 10;

/** The certificate, its issuer among the presented ones, and so on up. */
function pathOf(leaf: X509Certificate): X509Certificate[] {
  const shown = presentedChain(leaf).slice(0, MAX_CONSIDERED);
  const path = [leaf];
  for (let at: X509Certificate | undefined = leaf; at && !isSelfSigned(at); ) {
    const below: X509Certificate = at;
    at = shown.find((one) => !path.includes(one) && hasSigned(one, below));
    if (at) path.push(at);
  }
  return path;
}

function nameOf(certificate: X509Certificate): string {
  const { commonName, subject } = parsePeerCertificate(certificate);
  return quotable(commonName || (subject.organization[0] ?? ''));
}

function fault(problem: TlsProblem, host: string, what: string): TlsFailure {
  return { problem, sentence: `The certificate of ${quotable(host)} ${what}.` };
}

const day = (date: Date): string => date.toISOString().slice(0, 10);
