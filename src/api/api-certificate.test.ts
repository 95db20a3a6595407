import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../test/manual-clock.ts';
import { createSelfSigned } from '../lib/certificates/self-signed-certificate.ts';
import { DAY_MS } from '../lib/durations.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { loadApiCertificate, ownCertificateFile } from './api-certificate.ts';

const clock = manualClock();

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-certificate-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const load = (more: { publicUrl?: string; tlsCert?: string; tlsKey?: string } = {}, at = clock) =>
  loadApiCertificate(
    { dataDir, tlsCert: null, tlsKey: null, publicUrl: 'https://localhost:8443', ...more },
    at,
  );
const keyFile = () => join(dataDir, 'tls', 'api.key');

describe('the self-signed certificate', () => {
  it('is for localhost and the public host, valid for a year and readable only by its user', async () => {
    const pair = await load({ publicUrl: 'https://api.example.com/hosting' });
    const certificate = new X509Certificate(pair.cert);
    for (const name of ['localhost', 'api.example.com']) expect(certificate.checkHost(name)).toBe(name);
    for (const address of ['127.0.0.1', '::1']) expect(certificate.checkIP(address)).toBe(address);
    expect(certificate.validToDate.getTime() - clock.now().getTime()).toBe(365 * DAY_MS);
    expect(readFileSync(ownCertificateFile(dataDir), 'utf8')).toBe(pair.cert);
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'tls')).mode & 0o777).toBe(0o700);
  });

  it('is used again, until 30 days before it expires', async () => {
    const first = await load();
    expect(await load()).toEqual(first);
    const late = manualClock(new Date(clock.now().getTime() + 334 * DAY_MS));
    expect(await load({}, late)).toEqual(first);
    late.advance(DAY_MS);
    const second = await load({}, late);
    expect(second.cert).not.toBe(first.cert);
    expect(await load({}, late)).toEqual(second);
  });

  it('is replaced when the public host changes', async () => {
    const first = await load();
    const second = await load({ publicUrl: 'https://api.example.com' });
    expect(second.cert).not.toBe(first.cert);
    expect(await load({ publicUrl: 'https://api.example.com' })).toEqual(second);
    expect((await load({ publicUrl: 'https://[2001:db8::1]:8443' })).cert).not.toBe(second.cert);
  });

  it.each([
    [
      'a truncated certificate',
      () => writeFileSync(ownCertificateFile(dataDir), '-----BEGIN CERTIFICATE-----\nMII'),
    ],
    ['an empty certificate', () => writeFileSync(ownCertificateFile(dataDir), '')],
    ['a truncated key', () => writeFileSync(keyFile(), '-----BEGIN PRIVATE KEY-----\nMII')],
    ['no key', () => rmSync(keyFile())],
    ['no certificate', () => rmSync(ownCertificateFile(dataDir))],
    [
      'the key of another certificate',
      async () =>
        writeFileSync(
          keyFile(),
          (await createSelfSigned({ names: ['x'], notBefore: new Date(), days: 1 })).key,
        ),
    ],
  ])('is replaced if the files have %s', async (_, spoil) => {
    const first = await load();
    await spoil();
    const second = await load();
    expect(second.cert).not.toBe(first.cert);
    expect(await load()).toEqual(second);
  });
});

describe('configured files', () => {
  const write = (name: string, content: string): string => {
    const file = join(dataDir, name);
    writeFileSync(file, content);
    return file;
  };

  it('are used unchanged, even if expired', async () => {
    const { chain, key } = await createSelfSigned({
      names: ['x.example'],
      notBefore: new Date('2020-01-01'),
      days: 1,
    });
    const pair = await load({ tlsCert: write('a.crt', chain), tlsKey: write('a.key', key) });
    expect(pair).toEqual({ cert: chain, key });
  });

  it('are refused in one sentence if they are unusable', async () => {
    const one = await createSelfSigned({ names: ['one'], notBefore: new Date(), days: 1 });
    const two = await createSelfSigned({ names: ['two'], notBefore: new Date(), days: 1 });
    const good = write('one.crt', one.chain);
    for (const [tlsCert, tlsKey, said] of [
      [
        join(dataDir, 'absent'),
        write('one.key', one.key),
        /^HOMEPORT_TLS_CERT: .*absent cannot be read \(ENOENT/,
      ],
      [good, join(dataDir, 'absent'), /^HOMEPORT_TLS_KEY: .*absent cannot be read \(ENOENT/],
      [good, dataDir, /^HOMEPORT_TLS_KEY: .* cannot be read \(EISDIR/],
      [good, write('two.key', two.key), /^HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY must be .*mismatch/],
      [
        write('x.crt', 'nonsense'),
        write('one.key', one.key),
        /^HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY must be/,
      ],
    ] as const) {
      const error: unknown = await load({ tlsCert, tlsKey }).catch((reason: unknown) => reason);
      if (!(error instanceof OperatorError)) throw new Error('not refused');
      expect(error.message).toMatch(said);
      expect(error.message).not.toMatch(/BEGIN|nonsense/);
    }
  });
});
