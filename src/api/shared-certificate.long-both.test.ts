import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { manualClock } from '../../test/manual-clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { loadApiCertificate, ownCertificateFile } from './api-certificate.ts';
import { createSharedCertificate } from './shared-certificate.ts';

let homeport: TestHomeport;
const folders: string[] = [];
const clock = manualClock();
beforeAll(async () => {
  homeport = await startTestHomeport();
  for (let count = 0; count < 3; count++) folders.push(await mkdtemp(join(tmpdir(), 'homeport-shared-')));
});
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
  await homeport?.remove();
});

/** The certificate of another process of the platform with its own data folder. */
const load = (folder: string, at = clock) =>
  loadApiCertificate(
    { dataDir: folder, tlsCert: null, tlsKey: null, publicUrl: 'https://api.example.com' },
    at,
    createSharedCertificate(homeport.platform),
  );

test('processes with data folders of their own show the same certificate, also those that start at once', async () => {
  const pairs = await Promise.all(folders.map((folder) => load(folder)));
  expect(new Set(pairs.map(({ cert }) => cert)).size).toBe(1);
  expect(new Set(pairs.map(({ key }) => key)).size).toBe(1);
  for (const folder of folders)
    expect(await readFile(ownCertificateFile(folder), 'utf8')).toBe(pairs[0]?.cert);
  const [row] = await homeport.platform.database.reader.selectFrom('api_certificate').selectAll().execute();
  expect(row?.sealed_key).not.toContain('PRIVATE KEY');
});

test('a renewed one is that of all', async () => {
  const before = await load(folders[0] ?? '');
  const late = manualClock(new Date(clock.now().getTime() + 340 * DAY_MS));
  const [renewed, ...others] = await Promise.all(folders.map((folder) => load(folder, late)));
  expect(renewed?.cert).not.toBe(before.cert);
  expect(others).toEqual([renewed, renewed]);
});
