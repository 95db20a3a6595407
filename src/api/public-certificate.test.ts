import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../test/manual-clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { loadApiCertificate, ownCertificateFile, ownKeyFile } from './api-certificate.ts';
import {
  certificateFileForClients,
  preparePublicFolder,
  publicCertificateFile,
  publicFolder,
  publishCertificate,
} from './public-certificate.ts';

const STRANGER = { uid: 54_321, gid: 54_321 };

let base: string;
let dataDir: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'homeport-public-'));
  chmodSync(base, 0o755);
  dataDir = join(base, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
});
afterEach(() => rmSync(base, { recursive: true }));

const settings = (more: { tlsCert?: string; tlsKey?: string; publicUrl?: string } = {}) => ({
  ...{ dataDir, tlsCert: null, tlsKey: null, trustProxy: [], publicUrl: 'https://localhost:8443' },
  ...more,
});

async function publish(clock = manualClock()): Promise<string> {
  const { cert } = await loadApiCertificate(settings(), clock);
  await publishCertificate(settings(), cert);
  return cert;
}

const mode = (path: string) => statSync(path).mode & 0o777;

describe('the public copy of the certificate', () => {
  it('is readable for everyone, whatever the umask, and the key stays closed', async () => {
    const before = process.umask(0o077);
    try {
      expect(await publish()).toBe(readFileSync(publicCertificateFile(dataDir), 'utf8'));
    } finally {
      process.umask(before);
    }
    expect(mode(publicFolder(dataDir))).toBe(0o755);
    expect(mode(publicCertificateFile(dataDir))).toBe(0o644);
    expect(readdirSync(publicFolder(dataDir))).toEqual(['api.crt']);
    expect([mode(dataDir), mode(join(dataDir, 'tls')), mode(ownKeyFile(dataDir))]).toEqual([
      0o700, 0o700, 0o600,
    ]);
    expect(certificateFileForClients(dataDir)).toBe(publicCertificateFile(dataDir));
  });

  it('follows a renewal as a new file, so that readers see a whole certificate', async () => {
    const clock = manualClock();
    const first = await publish(clock);
    const { ino } = statSync(publicCertificateFile(dataDir));
    clock.advance(340 * DAY_MS);
    const second = await publish(clock);
    expect(second).not.toBe(first);
    expect(readFileSync(publicCertificateFile(dataDir), 'utf8')).toBe(second);
    expect(statSync(publicCertificateFile(dataDir)).ino).not.toBe(ino);
    expect(readdirSync(publicFolder(dataDir))).toEqual(['api.crt']);
  });

  it.each([
    ['a configured certificate', { tlsCert: '/etc/api.crt', tlsKey: '/etc/api.key' }],
    ['a public URL without TLS', { publicUrl: 'http://localhost' }],
  ])('is removed with %s', async (_, more) => {
    const cert = await publish();
    await publishCertificate(settings(more), cert);
    expect(existsSync(publicCertificateFile(dataDir))).toBe(false);
    rmSync(publicFolder(dataDir), { recursive: true });
    await publishCertificate(settings(more), cert);
    expect(existsSync(publicFolder(dataDir))).toBe(false);
  });

  it('is not named to clients if it is another certificate, or others could replace it', async () => {
    await publish();
    chmodSync(publicFolder(dataDir), 0o777);
    expect(certificateFileForClients(dataDir)).toBe(ownCertificateFile(dataDir));
    await publish();
    expect(certificateFileForClients(dataDir)).toBe(publicCertificateFile(dataDir));
    writeFileSync(publicCertificateFile(dataDir), 'another');
    expect(certificateFileForClients(dataDir)).toBe(ownCertificateFile(dataDir));
  });

  it('is never written through a link', async () => {
    mkdirSync(join(base, 'elsewhere'));
    symlinkSync('elsewhere', publicFolder(dataDir));
    await expect(publish()).rejects.toThrow('belongs to another user');
    await publishCertificate(settings({ tlsCert: '/etc/api.crt' }), '');
    expect(readdirSync(join(base, 'elsewhere'))).toEqual([]);
    expect(certificateFileForClients(dataDir)).toBe(ownCertificateFile(dataDir));
  });
});

describe.skipIf(process.getuid?.() !== 0)('with several users (skipped without root)', () => {
  it('never trusts a folder that another user made first', async () => {
    mkdirSync(publicFolder(dataDir));
    chownSync(publicFolder(dataDir), STRANGER.uid, STRANGER.gid);
    await expect(publish()).rejects.toThrow('belongs to another user');
    writeFileSync(publicCertificateFile(dataDir), readFileSync(ownCertificateFile(dataDir)));
    expect(certificateFileForClients(dataDir)).toBe(ownCertificateFile(dataDir));
  });

  it('belongs to the owner of the data folder, who can replace it', async () => {
    chownSync(dataDir, STRANGER.uid, STRANGER.gid);
    await preparePublicFolder(dataDir);
    expect(statSync(publicFolder(dataDir))).toMatchObject(STRANGER);
    await publish();
    expect(certificateFileForClients(dataDir)).toBe(publicCertificateFile(dataDir));
    const { status } = spawnSync('/bin/mv', ['-f', 'api.crt', 'new'], {
      ...STRANGER,
      cwd: publicFolder(dataDir),
    });
    expect(status).toBe(0);
  });
});
