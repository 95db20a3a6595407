import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { describe, expect, test } from 'vitest';
import { parsePeerCertificate } from './peer-certificate.ts';
import { quotable } from './untrusted-text.ts';

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

interface Wanted {
  algorithm?: { name: string; hash?: string; namedCurve?: string; saltLength?: number };
  name?: x509.JsonName;
  alternativeNames?: x509.JsonGeneralName[];
}

async function certificate({ algorithm = P256, name = [], alternativeNames = [] }: Wanted) {
  const rsa = { publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2048 };
  const parameters = algorithm.name.startsWith('RSA') ? { ...rsa, ...algorithm } : algorithm;
  const keys = await crypto.subtle.generateKey(parameters, true, ['sign', 'verify']);
  if (!('privateKey' in keys)) throw new Error('no pair of keys');
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '0a1b2c',
    name,
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2026-04-01T00:00:00Z'),
    keys,
    signingAlgorithm: algorithm,
    extensions: [new x509.SubjectAlternativeNameExtension(alternativeNames)],
  });
  return parsePeerCertificate(new X509Certificate(made.toString('pem')));
}

describe('a certificate', () => {
  test('is read with all fields', async () => {
    const seen = await certificate({
      name: [
        { CN: ['site.example'] },
        { O: ['Foo, Inc.'] },
        { OU: ['One'] },
        { OU: ['Two'] },
        { C: ['DE'] },
        { ST: ['Bayern'] },
        { L: ['München'] },
      ],
      alternativeNames: [
        { type: 'dns', value: 'site.example' },
        { type: 'ip', value: '192.0.2.1' },
        { type: 'dns', value: '*.site.example' },
      ],
    });
    expect(seen).toEqual({
      issuer: 'site.example',
      notBefore: new Date('2026-01-01T00:00:00Z'),
      notAfter: new Date('2026-04-01T00:00:00Z'),
      serialNumber: '0A1B2C',
      commonName: 'site.example',
      dnsNames: ['site.example', '*.site.example'],
      signatureAlgorithm: 10,
      subject: {
        common_name: 'site.example',
        organization: ['Foo, Inc.'],
        organizational_unit: ['One', 'Two'],
        country: ['DE'],
        province: ['Bayern'],
        locality: ['München'],
      },
      chainLength: 1,
      fingerprint256: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
    });
  });

  test('without a subject has empty names, and its issuer falls back to the organization', async () => {
    expect(await certificate({})).toMatchObject({ issuer: '', commonName: '', dnsNames: [] });
    expect((await certificate({ name: [{ O: ['Only Org'] }] })).issuer).toBe('Only Org');
  });

  test('cannot smuggle in a name inside another name', async () => {
    const { dnsNames } = await certificate({
      alternativeNames: [
        { type: 'url', value: 'http://x/, DNS:slipped.example' },
        { type: 'dns', value: 'real.example' },
      ],
    });
    expect(dnsNames).toEqual(['real.example']);
  });

  test('keeps commas and odd bytes in names, except unprintable ones', async () => {
    const { dnsNames } = await certificate({
      alternativeNames: [
        { type: 'dns', value: 'evil, DNS:site.example' },
        { type: 'dns', value: 'a"b\\c\'d' },
        { type: 'dns', value: 'line\r\nfeed\u0000' },
        { type: 'dns', value: 'real.example' },
      ],
    });
    expect(dnsNames).toEqual(['evil, DNS:site.example', 'a"b\\c\'d', 'line feed', 'real.example']);
  });

  test('contains no control characters', async () => {
    const { subject } = await certificate({ name: [{ O: ['a\u0000b\u001b[31m\u202ec'] }] });
    expect(subject.organization).toEqual(['a b [31m c']);
  });

  test.each([
    [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-1' }, 3],
    [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, 4],
    [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' }, 5],
    [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' }, 6],
    [P256, 10],
    [{ name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' }, 11],
    [{ name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' }, 12],
    [{ name: 'RSA-PSS', hash: 'SHA-256', saltLength: 32 }, 13],
    [{ name: 'RSA-PSS', hash: 'SHA-384', saltLength: 48 }, 14],
    [{ name: 'RSA-PSS', hash: 'SHA-512', saltLength: 64 }, 15],
    [{ name: 'Ed25519' }, 16],
  ])('signed with %o has number %i', async (algorithm, number) => {
    expect((await certificate({ algorithm })).signatureAlgorithm).toBe(number);
  });
});

test('quoted text is short and printable', () => {
  expect(quotable('a\r\nb\u0007')).toBe('a b');
  expect(quotable('x'.repeat(120))).toHaveLength(120);
  expect(quotable('x'.repeat(121))).toBe(`${'x'.repeat(119)}…`);
});
