import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../test/any-character.ts';
import { parseDistinguishedName } from './distinguished-name.ts';

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const keys = await crypto.subtle.generateKey(P256, true, ['sign', 'verify']);

async function certificateOf(name: x509.JsonNameParams): Promise<X509Certificate> {
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: new x509.Name(name),
    keys,
    signingAlgorithm: P256,
  });
  return new X509Certificate(made.toString('pem'));
}

/** Node's own reading of the same name. Its key is on a usual curve, so Node does not crash. */
function expected(certificate: X509Certificate): Record<string, string[]> {
  const entries = Object.entries(certificate.toLegacyObject().subject ?? {});
  return Object.fromEntries(entries.map(([name, values]) => [name, [values ?? []].flat()]));
}

const character = fc.oneof(fc.constantFrom(...'\\+,;<>"=# \n\r\t\0/.:ü字😀\u202e'), anyCharacter);
const value = fc.string({ unit: character, minLength: 1, maxLength: 12 });
const attribute = fc.constantFrom('CN', 'O', 'OU', 'C', 'ST', 'L');

test('is parsed like Node parses it, whatever it contains', async () => {
  const part = fc.dictionary(attribute, fc.tuple(value), { minKeys: 1, maxKeys: 2 });
  const name = fc.array(part, { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(name, async (parts) => {
      const certificate = await certificateOf(
        parts.map((one) =>
          Object.fromEntries(Object.entries(one).map(([key, [text]]) => [key, [{ utf8String: text }]])),
        ),
      );
      expect(Object.fromEntries(parseDistinguishedName(certificate.subject))).toEqual(expected(certificate));
    }),
    { numRuns: 200 },
  );
});

test('is empty without attributes', async () => {
  expect(parseDistinguishedName((await certificateOf([])).subject).size).toBe(0);
  expect(parseDistinguishedName(undefined).size).toBe(0);
});
