import { expect, it, test } from 'vitest';
import {
  addressOfFile,
  parseReleaseIndex,
  type Release,
  releasesAfter,
  withRelease,
} from './release-index.ts';

const release = (version: string, security = false): Release => ({
  version,
  date: '2026-12-01',
  security,
  notes: `https://homeport.example/notes/${version}`,
  folder: `v${version}/`,
  files: [{ name: `homeport_${version}_amd64.deb`, size: 12, sha256: 'a'.repeat(64) }],
});
const indexOf = (...releases: unknown[]) => JSON.stringify({ releases, made_by: 'a later program' });

it('lists releases newest first, and takes a version in once', () => {
  const first = withRelease(null, release('0.9.0'));
  const third = withRelease(withRelease(first, release('0.10.0')), release('0.9.0', true));
  expect(parseReleaseIndex(third).releases.map(({ version, security }) => [version, security])).toEqual([
    ['0.10.0', false],
    ['0.9.0', true],
  ]);
  expect(() => withRelease(null, release('0.9'))).toThrow('wrong at /releases/0/version');
});

it('finds what is newer than a program, also one of development', () => {
  const index = parseReleaseIndex(indexOf(release('0.3.0'), release('0.4.0'), release('0.10.0')));
  const after = (version: string) => releasesAfter(index, version).map((one) => one.version);
  expect(after('0.4.0-dev+1b2c3d4e5')).toEqual(['0.10.0', '0.4.0']);
  expect(after('0.4.0')).toEqual(['0.10.0']);
  expect(after('0.11.0-dev')).toEqual([]);
});

it('finds files beside the index, or in the folder that a release names', () => {
  const one = release('0.4.0');
  const [file] = one.files;
  if (file === undefined) throw new Error('the release has no file');
  const address = 'https://releases.example/homeport/releases.json';
  expect(addressOfFile(address, one, file)).toBe(
    'https://releases.example/homeport/v0.4.0/homeport_0.4.0_amd64.deb',
  );
  const elsewhere = { ...one, folder: 'https://files.example/v0.4.0/' };
  expect(addressOfFile(address, elsewhere, file)).toBe(
    'https://files.example/v0.4.0/homeport_0.4.0_amd64.deb',
  );
});

test.each([
  ['no JSON', '<html>'],
  ['no list', '{}'],
  ['a list in the place of the object', '[]'],
  [
    'a name with a folder',
    indexOf({ ...release('0.4.0'), files: [{ name: '../x', size: 1, sha256: 'a'.repeat(64) }] }),
  ],
  [
    'a checksum in capitals',
    indexOf({ ...release('0.4.0'), files: [{ name: 'x', size: 1, sha256: 'A'.repeat(64) }] }),
  ],
  ['notes that are a script', indexOf({ ...release('0.4.0'), notes: 'javascript:alert(1)' })],
  [
    'notes that move the cursor of a terminal',
    indexOf({ ...release('0.4.0'), notes: 'https://homeport.example/\u001b[2J' }),
  ],
  ['a version with a path', indexOf(release('0.4.0/../..'))],
  ['more than 1 MiB', indexOf(release('0.4.0')).padEnd(2 ** 20 + 1)],
])('refuses %s', (_fault, text) => {
  expect(() => parseReleaseIndex(text)).toThrow('the list of releases');
});
