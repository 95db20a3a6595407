import { expect, test } from 'vitest';
import { FORMAT_VERSION, type Manifest, manifestText, parseManifest, requireNotNewer } from './manifest.ts';

const NAME = 'homeport-20261122T023000481Z-1e6a4c0e';

const manifest: Manifest = {
  format: 'homeport-platform-backup',
  version: 1,
  id: '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11',
  name: NAME,
  homeport_version: '1.2.3',
  public_url: 'https://localhost:8443',
  platform: 'a'.repeat(64),
  created_at: '2026-11-22T02:30:00.000Z',
  database_at: '2026-11-22T02:30:00.000Z',
  finished_at: '2026-11-22T02:31:00.000Z',
  host: 'embedded',
  database: { dialect: 'sqlite', migrations: ['0001-first', '0002-second'] },
  sealing_key: false,
  not_included: [],
  websites: [],
  files: [{ path: 'database.sqlite', bytes: 3, sha256: 'b'.repeat(64) }],
  bytes: 3,
};

test('a manifest is read as it was written', () => {
  expect(parseManifest(manifestText(manifest), NAME)).toEqual(manifest);
});

test.each([
  ['cut short', manifestText(manifest).slice(0, 200)],
  ['changed', manifestText(manifest).replace('"bytes": 3', '"bytes": 4')],
  ['of another shape', '{}'],
  [
    'with a path that leads out',
    manifestText({ ...manifest, files: [{ path: '../x', bytes: 1, sha256: 'b'.repeat(64) }] }),
  ],
])('a manifest %s is damaged', (_what, text) => {
  expect(() => parseManifest(text, NAME)).toThrow(`The manifest of ${NAME} is damaged`);
});

test('a backup of a newer program names the version that is needed', () => {
  const known = { version: '1.2.3', migrations: ['0001-first', '0002-second', '0003-third'] };
  expect(() => requireNotNewer(manifest, known)).not.toThrow();
  expect(() => requireNotNewer(manifest, { ...known, version: '1.10.0' })).not.toThrow();
  const advice = 'Restore it with Homeport 1.2.3 or newer.';
  expect(() => requireNotNewer(manifest, { ...known, version: '1.2.2' })).toThrow(advice);
  expect(() => requireNotNewer(manifest, { ...known, migrations: ['0001-first'] })).toThrow(advice);
  const newer = manifestText({ ...manifest, version: FORMAT_VERSION + 1 });
  expect(() => parseManifest(newer, NAME)).toThrow(advice);
});
