import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/database.ts';
import { loadApiCertificate } from '../../api/api-certificate.ts';
import { publicCertificateFile, publicFolder, publishCertificate } from '../../api/public-certificate.ts';
import { readConfig } from '../../config/config.ts';
import { systemClock } from '../../lib/clock.ts';
import { checkPublicCertificate } from './public-certificate.ts';

let folder: ReturnType<typeof temporaryFolder>;
let dataDir: string;
beforeEach(() => {
  folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  dataDir = join(folder.path, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
});
afterEach(() => folder.remove());

const config = (environment = {}) => readConfig({ HOMEPORT_DATA_DIR: dataDir, ...environment });

async function publish(): Promise<void> {
  const { cert } = await loadApiCertificate(config(), systemClock);
  await publishCertificate(config(), cert);
}

test('names the copy, and a folder above it that is closed', async () => {
  await publish();
  const file = publicCertificateFile(dataDir);
  expect(checkPublicCertificate(config())).toMatchObject([
    { state: 'ok', message: `Clients of all users can read ${file}.` },
  ]);
  chmodSync(folder.path, 0o700);
  expect(checkPublicCertificate(config())).toMatchObject([
    { state: 'ok', message: expect.stringContaining(`${folder.path} is closed to other users`) },
  ]);
});

test('warns about a copy that is missing, of another certificate, or that others can replace', async () => {
  await loadApiCertificate(config(), systemClock);
  const missing = checkPublicCertificate(config());
  expect(missing).toMatchObject([{ state: 'warning' }]);
  expect(missing[0]?.remedy).toContain(publicFolder(dataDir));
  await publish();
  writeFileSync(publicCertificateFile(dataDir), 'another');
  expect(checkPublicCertificate(config())).toMatchObject([{ state: 'warning' }]);
  await publish();
  chmodSync(publicFolder(dataDir), 0o777);
  expect(checkPublicCertificate(config())).toMatchObject([{ state: 'warning' }]);
});

test('checks nothing before the first start, and with a configured certificate', async () => {
  expect(checkPublicCertificate(config())).toEqual([]);
  await loadApiCertificate(config(), systemClock);
  const configured = { HOMEPORT_TLS_CERT: '/etc/api.crt', HOMEPORT_TLS_KEY: '/etc/api.key' };
  expect(checkPublicCertificate(config(configured))).toEqual([]);
});
