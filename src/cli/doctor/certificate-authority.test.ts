import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/database.ts';
import { readConfig } from '../../config/config.ts';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';
import { checkCertificateAuthority } from './certificate-authority.ts';

const DIRECTORY = { HOMEPORT_ACME_DIRECTORY: 'https://acme.example/directory' };
const CONTACT = { HOMEPORT_ACME_CONTACT: 'hostmaster@operator.example' };

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const found = (environment: Record<string, string>) => checkCertificateAuthority(readConfig(environment));

test('accepts self-signed certificates without an authority', () => {
  expect(found({})).toMatchObject([
    { check: 'certificate authority', state: 'ok', message: expect.stringContaining('self-signed') },
  ]);
  expect(found({ HOMEPORT_ACME_TERMS_AGREED: 'false' })).toMatchObject([{ state: 'ok' }]);
});

test('one with everything it needs', () => {
  expect(found({ ...DIRECTORY, ...CONTACT })).toMatchObject([
    { state: 'ok', message: 'Certificates come from acme.example.' },
  ]);
});

test('without a contact', () => {
  expect(found(DIRECTORY)).toMatchObject([
    { state: 'warning', remedy: expect.stringContaining('HOMEPORT_ACME_CONTACT') },
  ]);
});

test('its terms are not agreed to', () => {
  expect(found({ ...DIRECTORY, ...CONTACT, HOMEPORT_ACME_TERMS_AGREED: 'false' })).toMatchObject([
    { state: 'problem', remedy: expect.stringContaining('HOMEPORT_ACME_TERMS_AGREED=true') },
  ]);
});

test('its roots: a PEM file, none there, and no PEM; with an authority or without one', async () => {
  const file = join(folder.path, 'roots.pem');
  const settings = { ...DIRECTORY, ...CONTACT, HOMEPORT_ACME_CA: file };
  const unreadable = (reason: string) => [
    {
      state: 'problem',
      message: expect.stringContaining(reason),
      remedy: expect.stringContaining('HOMEPORT_ACME_CA'),
    },
  ];
  expect(found(settings)).toMatchObject(unreadable('ENOENT'));
  writeFileSync(file, 'no certificate');
  expect(found(settings)).toMatchObject(unreadable('it holds no certificate'));
  writeFileSync(file, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  expect(found(settings)).toMatchObject(unreadable(file));
  expect(found({ HOMEPORT_ACME_CA: file })).toMatchObject(unreadable(file));
  const { chain } = await createSelfSigned({ names: ['root.example'], notBefore: new Date(), days: 2 });
  writeFileSync(file, chain);
  expect(found(settings)).toMatchObject([{ state: 'ok' }]);
  expect(found({ HOMEPORT_ACME_CA: file })).toMatchObject([{ state: 'ok' }]);
});
