import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';
import { readIssued } from './issued-certificate.ts';

const name = 'a.example';
const own = await createSelfSigned({ names: [name], notBefore: new Date('2026-01-01'), days: 90 });

test('accepts a certificate for the name and the key', async () => {
  const issued = await readIssued(own.chain, { name, key: own.key });
  expect(issued).toMatchObject({ key: own.key, notBefore: own.notBefore, notAfter: own.notAfter });
  expect(new X509Certificate(issued.chain).subjectAltName).toBe(`DNS:${name}`);
});

test('refuses a certificate that cannot be served', async () => {
  const stranger = await createSelfSigned({ names: [name], notBefore: new Date('2026-01-01'), days: 90 });
  const given = { name, key: own.key };
  await expect(readIssued(own.chain, { ...given, name: 'b.example' })).rejects.toThrow(/another name/);
  await expect(readIssued(stranger.chain, given)).rejects.toThrow(/another key/);
  await expect(readIssued('<html>', given)).rejects.toThrow(/not a chain of PEM/);
  await expect(readIssued(undefined, given)).rejects.toThrow(/not a chain of PEM/);
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  await expect(readIssued(broken, given)).rejects.toMatchObject({
    type: 'urn:ietf:params:acme:error:serverInternal',
    message: expect.not.stringContaining(own.key),
  });
});
