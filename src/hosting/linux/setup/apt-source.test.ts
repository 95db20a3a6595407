import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { provideSource } from './apt-source.ts';

const LINE = 'deb https://packages.example.com/php/ bookworm main';
const KEY = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQINBF\n-----END PGP PUBLIC KEY BLOCK-----\n';

let folder: string;
let keyFile: string;
let fetched: string[];
const apt = { updateFrom: async (file: string) => void fetched.push(file) };
const refusing = {
  async updateFrom(): Promise<void> {
    throw new Error('the signature is wrong');
  },
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apt-'));
  keyFile = join(folder, 'given.key');
  fetched = [];
  await writeFile(keyFile, KEY);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const source = () => join(folder, 'sources.list.d/homeport-php.sources');
const key = (ending = 'asc') => join(folder, `keyrings/homeport-php.${ending}`);
const provide = (line = LINE, by: Parameters<typeof provideSource>[1] = apt) =>
  provideSource({ line, keyFile }, by, folder);

test('a source is written with its key, which counts for it alone, and fetched once', async () => {
  expect([await provide(), await provide()]).toEqual([true, false]);
  expect(await readFile(source(), 'utf8')).toBe(
    '# Written by "homeport host php add --source".\nTypes: deb\nURIs: https://packages.example.com/php/\n' +
      `Suites: bookworm\nComponents: main\nSigned-By: ${key()}\n`,
  );
  expect([await readFile(key(), 'utf8'), (await stat(key())).mode & 0o777]).toEqual([KEY, 0o644]);
  expect(fetched).toEqual([source()]);
});

test('a binary key gets the name by which apt knows such keys, and replaces an armoured one', async () => {
  await provide();
  await writeFile(keyFile, Buffer.from([0x99, 0x02, 0x0d]));
  expect(await provide()).toBe(true);
  expect(await readFile(source(), 'utf8')).toContain(`Signed-By: ${key('gpg')}\n`);
  expect(await readdir(join(folder, 'keyrings'))).toEqual(['homeport-php.gpg']);
});

test('a source that apt cannot use leaves nothing behind', async () => {
  await expect(provide(LINE, refusing)).rejects.toThrow(/not added, .*the signature is wrong/);
  expect([await readdir(join(folder, 'sources.list.d')), await readdir(join(folder, 'keyrings'))]).toEqual([
    [],
    [],
  ]);
});

test('a source that apt cannot use leaves the former one as it was', async () => {
  await provide();
  const before = await readFile(source(), 'utf8');
  await writeFile(keyFile, `${KEY}other`);
  await expect(provide('deb https://other.example.com/ sid main', refusing)).rejects.toThrow(/not added/);
  expect([await readFile(source(), 'utf8'), await readFile(key(), 'utf8')]).toEqual([before, KEY]);
});

test.each([
  'https://packages.example.com/php/ bookworm main',
  'deb [trusted=yes] https://packages.example.com/php/ bookworm main',
  'deb https://packages.example.com/php/ bookworm',
  'deb https://packages.example.com/php/ bookworm main\nTrusted: yes',
  'deb file:/srv/packages bookworm main',
])('the line %j is refused', async (line) => {
  await expect(provide(line)).rejects.toThrow(/without options in brackets/);
  expect(fetched).toEqual([]);
});

test.each(['-----BEGIN PGP PRIVATE KEY BLOCK-----\n', '<!doctype html>', ''])(
  'the key %j is refused',
  async (text) => {
    await writeFile(keyFile, text);
    await expect(provide()).rejects.toThrow(/is not a public OpenPGP key/);
  },
);
