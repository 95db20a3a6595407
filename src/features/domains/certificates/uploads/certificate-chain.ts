import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { hasSigned, isSelfSigned, isSignedBy, rootsAbove } from '../../../../network/probe/issuers.ts';
import { parsePeerCertificate } from '../../../../network/probe/peer-certificate.ts';
import { dayOf, issuerOf, subjectOf, uploadFault } from './certificate-fault.ts';
import { faultOfAuthorityKey, faultOfServerKey, hasWeakSignature, SERVER_KEYS } from './key-strength.ts';
import { pemBlocks } from './pem-blocks.ts';

/** A chain that servers can present. */
export interface CertificateChain {
  leaf: X509Certificate;
  /** The roots that clients trust: those above the path, else the root of a private authority. */
  anchors: X509Certificate[];
  /** PEM, the leaf first, without the root: clients have it. */
  pem: string;
  /** The DNS names of the leaf, in lower case. */
  names: string[];
  /** The time in which every certificate is valid. */
  notBefore: Date;
  notAfter: Date;
}

/** Longer than real chains. Verifying a forged long chain would cost time. */
const MOST_CERTIFICATES = 10;
const CERTIFICATE_LABELS = ['CERTIFICATE', 'X509 CERTIFICATE'];
/** id-kp-serverAuth and anyExtendedKeyUsage, RFC 5280 section 4.2.1.12. */
const SERVER_USAGES = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

const FORMAT =
  'Send the server certificate in PEM ("-----BEGIN CERTIFICATE-----"), followed by the intermediate certificates of its issuer';

const refuse = (code: string, message: string) => uploadFault('certificate', code, message);

/**
 * Reads a chain and checks all that clients check but host names. `roots`: those that clients trust. A root at the end
 * makes the chain of a private authority complete. Throws InvalidRequest.
 */
export function readChain(
  text: string,
  { now, roots }: { now: Date; roots: () => X509Certificate[] },
): CertificateChain {
  const path = readCertificates(text);
  const leaf = path[0];
  requireStrength(path);
  requireServer(leaf, path);
  requireOrder(path);
  requirePathLength(path);
  const above = rootsAbove(path, roots());
  const isAnchored = above.length > 0;
  const top = path.at(-1) ?? leaf;
  if (!isAnchored && !isSelfSigned(top)) {
    throw refuse(
      'incomplete_chain',
      `The chain ends with ${subjectOf(top)}, and its issuer ${issuerOf(top)} is missing. Append the intermediate ` +
        'certificates of the authority; if the authority is a private one, its root too.',
    );
  }
  const presented = isSelfSigned(top) ? path.slice(0, -1) : path;
  requireCurrent(isAnchored ? presented : path, now);
  if (presented.some(hasWeakSignature)) {
    throw refuse(
      'weak_signature',
      'A certificate of the chain is signed with an algorithm that browsers refuse. Get one that is signed with SHA-256 or better.',
    );
  }
  const names = parsePeerCertificate(leaf).dnsNames.map((name) => name.toLowerCase());
  if (names.length === 0) {
    throw refuse(
      'no_names',
      'The certificate names no host as a subject alternative name, and browsers ignore the common name. Get one for your domains.',
    );
  }
  return {
    leaf,
    anchors: isAnchored ? above : [top],
    pem: presented.map((one) => one.toString()).join(''),
    names,
    notBefore: new Date(Math.max(...presented.map((one) => one.validFromDate.getTime()))),
    notAfter: new Date(Math.min(...presented.map((one) => one.validToDate.getTime()))),
  };
}

function readCertificates(text: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = pemBlocks(text);
  if (blocks.some(({ label }) => label.endsWith('PRIVATE KEY'))) {
    throw refuse('contains_key', 'This field holds a private key. Send the key in private_key only.');
  }
  const other = blocks.find(({ label }) => !CERTIFICATE_LABELS.includes(label));
  if (other)
    throw refuse('invalid_pem', `The chain holds "${other.label}", which is no certificate. ${FORMAT}.`);
  if (blocks.length > MOST_CERTIFICATES) {
    throw refuse(
      'too_many',
      `The chain has ${blocks.length} certificates; at most ${MOST_CERTIFICATES} are possible. ${FORMAT}.`,
    );
  }
  const [leaf, ...above] = blocks.map((block, index) => {
    try {
      return new X509Certificate(block.text);
    } catch {
      throw refuse('invalid_pem', `Certificate ${index + 1} cannot be read. ${FORMAT}.`);
    }
  });
  if (leaf === undefined) throw refuse('invalid_pem', `The text holds no certificate. ${FORMAT}.`);
  return [leaf, ...above];
}

/** Comes before any signature is verified, as the time that a verification takes depends on the key. */
function requireStrength(path: readonly X509Certificate[]): void {
  for (const [index, certificate] of path.entries()) {
    let fault: string | null;
    try {
      // A server certificate that is not the first one gets the message about the order.
      fault = (index === 0 && !certificate.ca ? faultOfServerKey : faultOfAuthorityKey)(
        certificate.publicKey,
      );
    } catch {
      fault = 'of an unknown kind';
    }
    if (fault !== null) {
      throw refuse(
        'weak_key',
        `The key of ${subjectOf(certificate)} is ${fault}. Get a certificate for another key: ${SERVER_KEYS}.`,
      );
    }
  }
}

function requireServer(leaf: X509Certificate, path: readonly X509Certificate[]): void {
  const server = path.findIndex((one, index) => index > 0 && !one.ca);
  const [authority, issued] = [path[server], path[server - 1]];
  if (authority !== undefined && issued !== undefined) {
    if (!issued.ca && isSignedBy(authority, issued)) throw noAuthority(authority, server);
    throw refuse(
      'wrong_order',
      `Certificate ${server + 1} is the server's. Put it first, then the certificate of its issuer, and so on.`,
    );
  }
  if (isSelfSigned(leaf)) {
    throw refuse(
      'self_signed',
      `The certificate ${subjectOf(leaf)} is self-signed, and browsers do not trust it. Get one from a certificate authority.`,
    );
  }
  if (leaf.ca) {
    throw refuse(
      'not_a_server',
      `${subjectOf(leaf)} is a certificate of an authority. Put the server certificate first.`,
    );
  }
  // Node calls the extended key usage so.
  const usages: string[] | undefined = leaf.keyUsage;
  if (usages !== undefined && !usages.some((usage) => SERVER_USAGES.includes(usage))) {
    throw refuse(
      'not_a_server',
      `The certificate ${subjectOf(leaf)} is not for servers. Get one with the extended key usage "server authentication".`,
    );
  }
}

/** Each certificate must be signed by the next one. */
function requireOrder(path: readonly X509Certificate[]): void {
  for (const [index, issuer] of path.entries()) {
    const issued = path[index - 1];
    if (issued === undefined) continue;
    const [number, above] = [index, index + 1];
    if (path.findIndex((one) => one.fingerprint256 === issuer.fingerprint256) < index) {
      throw refuse('wrong_order', `Certificate ${above} is in the chain twice. Remove one of the two.`);
    }
    if (issuer.ca && hasSigned(issuer, issued)) continue;
    const found = path.findIndex((one) => hasSigned(one, issued) && one !== issued);
    throw found === -1
      ? refuse(
          'incomplete_chain',
          `Certificate ${above} (${subjectOf(issuer)}) did not issue certificate ${number} (${subjectOf(issued)}). ` +
            `Put the certificate of its issuer ${issuerOf(issued)} there, and remove certificates that do not belong to the chain.`,
        )
      : refuse(
          'wrong_order',
          `The chain is not in order: certificate ${found + 1} issued certificate ${number}, and has to follow it. ` +
            'Put the server certificate first, then the certificate of its issuer, and so on.',
        );
  }
}

function noAuthority(certificate: X509Certificate, index: number) {
  const why = constraintsOf(certificate, index)?.ca
    ? 'keyUsage without keyCertSign'
    : 'basicConstraints without CA';
  return refuse(
    'not_an_authority',
    `Certificate ${index + 1} (${subjectOf(certificate)}) may not sign certificates (${why}). Get a certificate from another authority.`,
  );
}

/** RFC 5280 section 4.2.1.9. Intermediate certificates that an authority issued to itself do not count. */
function requirePathLength(path: readonly X509Certificate[]): void {
  let below = 0;
  for (const [index, authority] of path.entries()) {
    if (index === 0) continue;
    const most = constraintsOf(authority, index)?.pathLength;
    if (most !== undefined && below > most) {
      const allowed = most === 0 ? 'no intermediate certificate' : counted(most);
      throw refuse(
        'path_too_long',
        `The certificate ${subjectOf(authority)} (number ${index + 1}) allows ${allowed} below it (pathLenConstraint), and the chain has ${below}. ` +
          'Get a certificate from another authority.',
      );
    }
    if (authority.subject !== authority.issuer) below += 1;
  }
}

const counted = (count: number) => `${count} intermediate certificate${count === 1 ? '' : 's'}`;

function constraintsOf({ raw }: X509Certificate, index: number): x509.BasicConstraintsExtension | null {
  try {
    return new x509.X509Certificate(raw).getExtension(x509.BasicConstraintsExtension);
  } catch {
    throw refuse('invalid_pem', `Certificate ${index + 1} cannot be read. ${FORMAT}.`);
  }
}

function requireCurrent(path: readonly X509Certificate[], now: Date): void {
  for (const [index, certificate] of path.entries()) {
    const named = `${index === 0 ? 'The certificate' : 'The intermediate certificate'} ${subjectOf(certificate)}`;
    if (now > certificate.validToDate) {
      const todo = index === 0 ? 'Renew it' : 'Download the current chain from the authority';
      throw refuse('expired', `${named} expired on ${dayOf(certificate.validToDate)}. ${todo}.`);
    }
    if (now < certificate.validFromDate) {
      throw refuse(
        'not_yet_valid',
        `${named} is valid from ${dayOf(certificate.validFromDate)} on. Upload it then.`,
      );
    }
  }
}
