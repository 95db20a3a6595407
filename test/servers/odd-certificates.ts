import { generateKeyPairSync, getCurves, type KeyObject, sign } from 'node:crypto';
import { bits, der, integer, oid, sequence, TAG, TRUE, text } from './der.ts';

/** A certificate that strangers could send. */
export interface OddCertificate {
  name: string;
  /** PEM. */
  pem: string;
  /** Of a server that presents it, PKCS#8 PEM; null if it has none. */
  key: string | null;
}

export interface OddCertificates {
  /** PEM of the authority that signs them. */
  authority: string;
  /** A certificate without oddities. */
  usual: OddCertificate;
  /** A certificate like that of the authority, with a key on an uncommon curve. OpenSSL ignores it, and Node describes it. */
  impostor: string;
  odd: OddCertificate[];
}

interface Parts {
  spki: Uint8Array;
  subject: Uint8Array;
  extensions: readonly Uint8Array[];
  serial: Uint8Array;
  validity: Uint8Array;
  /** Instead of those of the authority. */
  algorithm: Uint8Array;
  issuer: Uint8Array;
}

const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const COMMON_NAME = '2.5.4.3';
const ALTERNATIVE_NAMES = '2.5.29.17';
const AUTHORITY = name([COMMON_NAME, text(TAG.utf8, 'Odd Authority')]);

function name(...attributes: [string | Uint8Array, Uint8Array][]): Buffer {
  return sequence(
    ...attributes.map(([type, value]) =>
      der(TAG.set, sequence(typeof type === 'string' ? oid(type) : type, value)),
    ),
  );
}

function extension(type: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(type), ...(isCritical ? [TRUE] : []), der(TAG.octets, value));
}

const dnsNames = (...names: string[]) =>
  extension(ALTERNATIVE_NAMES, sequence(...names.map((one) => text(0x82, one))));
const asAuthority = extension('2.5.29.19', sequence(TRUE), true);

function time(date: Date): Buffer {
  return text(TAG.generalizedTime, `${date.toISOString().replace(/\D/g, '').slice(0, 14)}Z`);
}

const spkiOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
const pkcs8Of = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

export function pemOf(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

/** Makes certificates for `host` that no sensible authority would issue. Their number of broken copies is `broken`. */
export function makeOddCertificates(host: string, broken: number): OddCertificates {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const day = 24 * 60 * 60 * 1000;
  const usualParts: Parts = {
    spki: spkiOf(server.publicKey),
    subject: name([COMMON_NAME, text(TAG.utf8, host)]),
    extensions: [dnsNames(host)],
    serial: Buffer.from([1]),
    validity: sequence(time(new Date(Date.now() - day)), time(new Date(Date.now() + 30 * day))),
    algorithm: ECDSA_SHA256,
    issuer: AUTHORITY,
  };

  function certificate(changes: Partial<Parts> = {}): Buffer {
    const { serial, algorithm, issuer, validity, subject, spki, extensions } = { ...usualParts, ...changes };
    const version = der(0xa0, integer(Buffer.from([2])));
    const ending = extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))];
    const body = sequence(version, integer(serial), algorithm, issuer, validity, subject, spki, ...ending);
    return sequence(body, algorithm, bits(sign('sha256', body, pair.privateKey)));
  }

  const odd: OddCertificate[] = [];
  const add = (oddity: string, changes: Partial<Parts>, key: KeyObject | null = server.privateKey) =>
    odd.push({
      name: oddity,
      pem: pemOf(certificate(changes)),
      key: key === null ? null : pkcs8Of(key),
    });

  for (const { label, publicKey, privateKey } of oddKeys())
    add(label, { spki: spkiOf(publicKey) }, privateKey);
  for (const [label, spki] of forgedKeys()) add(label, { spki }, null);
  for (const [label, changes] of oddParts(host)) add(label, changes);
  const usual = certificate();
  for (const [label, bytes] of brokenCopies(usual, broken)) {
    odd.push({ name: label, pem: pemOf(bytes), key: null });
  }
  const strange = generateKeyPairSync('ec', { namedCurve: 'brainpoolP256r1' });
  return {
    authority: pemOf(
      certificate({ subject: AUTHORITY, spki: spkiOf(pair.publicKey), extensions: [asAuthority] }),
    ),
    usual: { name: 'usual', pem: pemOf(usual), key: pkcs8Of(server.privateKey) },
    impostor: pemOf(
      certificate({ subject: AUTHORITY, spki: spkiOf(strange.publicKey), extensions: [asAuthority] }),
    ),
    odd,
  };
}

/** A key on every curve, and of every other kind. */
function* oddKeys(): Generator<{ label: string; publicKey: KeyObject; privateKey: KeyObject }> {
  for (const namedCurve of getCurves()) {
    // These have no object identifier.
    const paramEncoding = namedCurve.startsWith('Oakley') ? 'explicit' : 'named';
    yield { label: `curve ${namedCurve}`, ...generateKeyPairSync('ec', { namedCurve, paramEncoding }) };
  }
  for (const namedCurve of ['prime256v1', 'secp384r1', 'brainpoolP256r1', 'secp256k1', 'sect163k1']) {
    const pair = generateKeyPairSync('ec', { namedCurve, paramEncoding: 'explicit' });
    yield { label: `explicit ${namedCurve}`, ...pair };
  }
  yield { label: 'Ed25519', ...generateKeyPairSync('ed25519') };
  yield { label: 'Ed448', ...generateKeyPairSync('ed448') };
  yield { label: 'X25519', ...generateKeyPairSync('x25519') };
  yield { label: 'RSA-PSS', ...generateKeyPairSync('rsa-pss', { modulusLength: 2048 }) };
  yield { label: 'RSA of 512 bits', ...generateKeyPairSync('rsa', { modulusLength: 512 }) };
  yield { label: 'DSA', ...generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }) };
}

/** Unusable keys. */
function* forgedKeys(): Generator<[string, Uint8Array]> {
  const rsa = (modulus: Uint8Array, exponent: Uint8Array) =>
    sequence(
      sequence(oid('1.2.840.113549.1.1.1'), Buffer.from([5, 0])),
      bits(sequence(integer(modulus), integer(exponent))),
    );
  const three = Buffer.from([3]);
  const huge = Buffer.alloc(8_193, 0xff).fill(0, 0, 1);
  yield ['RSA of 65,536 bits', rsa(huge, three)];
  yield ['RSA with a huge exponent', rsa(huge.subarray(0, 2_049), huge)];
  yield ['RSA without a modulus', rsa(Buffer.from([0]), three)];
  yield ['RSA with a negative modulus', rsa(Buffer.alloc(256, 0xff), three)];
  yield ['RSA with an even modulus', rsa(Buffer.alloc(256, 0x7e), Buffer.from([0]))];
  const ec = (parameters: Uint8Array, point: Uint8Array) =>
    sequence(sequence(oid('1.2.840.10045.2.1'), parameters), bits(point));
  const p256 = oid('1.2.840.10045.3.1.7');
  yield ['a point that is not on its curve', ec(p256, Buffer.alloc(65, 4))];
  yield ['the point at infinity', ec(p256, Buffer.from([0]))];
  yield ['an unknown curve', ec(oid('1.2.3.4'), Buffer.alloc(65, 4))];
  yield ['a curve of null', ec(Buffer.from([5, 0]), Buffer.alloc(65, 4))];
  yield ['an unknown algorithm', sequence(sequence(oid('1.2.3.4')), bits(Buffer.alloc(10)))];
  yield ['an empty key', sequence(sequence(oid('1.2.840.10045.2.1'), p256), bits(Buffer.alloc(0)))];
}

/** Strange names, numbers, times and extensions. */
function* oddParts(host: string): Generator<[string, Partial<Parts>]> {
  const many = Array.from({ length: 10_000 }, (_, index) => index);
  const own = dnsNames(host);
  const common = (value: Uint8Array) => name([COMMON_NAME, value]);
  const longArc = `1.2.${'9'.repeat(3_000)}`;
  yield [
    '10,000 common names',
    { subject: name(...many.map((index): [string, Buffer] => [COMMON_NAME, text(TAG.utf8, `n${index}`)])) },
  ];
  yield ['10,000 host names', { extensions: [dnsNames(host, ...many.map((index) => `n${index}.example`))] }];
  yield [
    '10,000 extensions',
    { extensions: [own, ...many.map((index) => extension(`1.2.3.${index}`, Buffer.alloc(0)))] },
  ];
  yield ['an attribute with a huge type', { subject: name([longArc, text(TAG.utf8, 'x')]) }];
  yield ['an extension with a huge type', { extensions: [own, extension(longArc, Buffer.alloc(1))] }];
  yield ['a type without arcs', { subject: name([der(TAG.oid), text(TAG.utf8, 'x')]) }];
  yield [
    'a type that never ends',
    { subject: name([der(TAG.oid, Buffer.alloc(50, 0x80)), text(TAG.utf8, 'x')]) },
  ];
  yield ['an unknown algorithm of its signature', { algorithm: sequence(oid(longArc)) }];
  yield ['no subject', { subject: sequence() }];
  yield ['a long name', { subject: common(text(TAG.utf8, 'x'.repeat(60_000))) }];
  yield [
    'a name that is no UTF-8',
    { subject: common(der(TAG.utf8, Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0]))) },
  ];
  yield ['half a character', { subject: common(der(TAG.bmp, Buffer.from([0xd8]))) }];
  yield ['characters beyond Unicode', { subject: common(der(TAG.universal, Buffer.alloc(8, 0xff))) }];
  yield ['a number as a name', { subject: common(integer(Buffer.from([1]))) }];
  yield ['control characters', { subject: common(text(TAG.teletex, 'a\0\n\r\u001b[31m')) }];
  yield ['a name within names', { subject: common(sequence(common(text(TAG.utf8, 'x')))) }];
  const nul = extension(ALTERNATIVE_NAMES, sequence(text(0x82, `${host}\0.other.example`)));
  yield ['a host name with a zero byte', { extensions: [nul] }];
  const kinds = [0xa0, 0x81, 0xa3, 0xa4, 0xa5, 0x86, 0x87, 0x88, 0x8f];
  const strange = sequence(...kinds.map((tag) => der(tag, Buffer.from([1, 2, 3]))), text(0x82, host));
  yield ['alternative names of other kinds', { extensions: [extension(ALTERNATIVE_NAMES, strange)] }];
  yield ['alternative names twice', { extensions: [own, own] }];
  yield [
    'alternative names that are no list',
    { extensions: [extension(ALTERNATIVE_NAMES, integer(Buffer.from([1])))] },
  ];
  const nested = many.slice(0, 2_000).reduce((inner) => sequence(inner), sequence());
  yield ['2,000 nested lists', { extensions: [own, extension('1.2.3.4', nested)] }];
  const known = ['2.5.29.14', '2.5.29.15', '2.5.29.19', '2.5.29.30', '2.5.29.31', '2.5.29.32', '2.5.29.33'];
  for (const type of [...known, '2.5.29.35', '2.5.29.36', '2.5.29.37', '1.3.6.1.5.5.7.1.1']) {
    yield [
      `a broken extension ${type}`,
      { extensions: [own, extension(type, Buffer.from([0x30, 0x7f, 1]), true)] },
    ];
  }
  yield ['an unknown critical extension', { extensions: [own, extension('1.2.3.4', Buffer.alloc(1), true)] }];
  yield ['a negative number', { serial: Buffer.from([0x80]) }];
  yield ['a huge number', { serial: Buffer.alloc(10_000, 0x7f) }];
  yield ['no number', { serial: Buffer.alloc(0) }];
  for (const value of ['00000101000000Z', '99991231235959Z', '20261399999999Z', 'x', '']) {
    const odd = text(TAG.generalizedTime, value);
    yield [`the time "${value}"`, { validity: sequence(odd, odd) }];
  }
}

/** Copies that are cut off or have changed bytes. The same ones each time. */
function* brokenCopies(whole: Buffer, count: number): Generator<[string, Uint8Array]> {
  let state = 1;
  const random = (below: number) => {
    // Of Numerical Recipes.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let index = 0; index < count; index += 1) {
    const copy = Buffer.from(whole);
    for (let change = 0; change <= index % 3; change += 1) copy[random(copy.length)] = random(256);
    yield [`broken copy ${index}`, index % 4 === 0 ? copy.subarray(0, random(copy.length)) : copy];
  }
}
