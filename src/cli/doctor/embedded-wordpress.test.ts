import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../test/database.ts';
import { embeddedWordPress } from '../../app/embedded-websites.ts';
import { readConfig } from '../../config/config.ts';
import type { InspectedWordPress } from '../../hosting/embedded/wordpress/inspect-wordpress.ts';
import { UnconfinedError } from '../../hosting/runtime/wasm/unconfined-error.ts';
import { checkEmbeddedWordPress } from './embedded-wordpress.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

const READY: InspectedWordPress = {
  missing: null,
  unconfined: null,
  versions: ['6.8.1', '6.7'],
  websites: 1,
  lacking: [],
  machine: null,
  isLost: false,
  wasmVersion: '8.4',
  processMb: 440,
};

function found(changes: Partial<InspectedWordPress> = {}, environment: Record<string, string> = {}) {
  const config = readConfig({ HOMEPORT_EMBEDDED_PHP_MB: '1000', ...environment });
  return checkEmbeddedWordPress(config, {
    inspect: async () => ({ ...READY, ...changes }),
    machineMb: 4_000,
  });
}

test('says how many websites run at the same time', async () => {
  expect(await found()).toMatchObject([
    {
      state: 'ok',
      message: expect.stringContaining('6.8.1. 1000 MiB let 2 websites run PHP 8.4 as WebAssembly'),
    },
  ]);
  expect(await found({ versions: [] })).toMatchObject([
    { state: 'ok', message: expect.stringContaining('The first website fetches WordPress from its source.') },
  ]);
  expect(await found({}, { HOMEPORT_HOST: 'linux' })).toEqual([]);
});

const missing = 'The optional packages of PHP are not installed. Run `npm ci` without --omit=optional';
// As on a machine without bubblewrap, whatever this one has.
vi.stubEnv('PATH', '');
const unconfined = UnconfinedError.from(new Error('Command failed'), '');
vi.unstubAllEnvs();
test.each<[string, Partial<InspectedWordPress>, Record<string, string>, string, string]>([
  ['packages are missing', { missing }, {}, 'problem', 'without --omit=optional.'],
  ['packages are missing, and no website needs them', { missing, websites: 0 }, {}, 'warning', 'cannot run'],
  ['PHP is off', {}, { HOMEPORT_EMBEDDED_PHP_MB: '0' }, 'problem', 'PHP is off'],
  ['PHP is off for static websites', { websites: 0 }, { HOMEPORT_EMBEDDED_PHP_MB: '0' }, 'ok', 'PHP is off'],
  ['a version is missing', { lacking: ['6.5'] }, {}, 'problem', 'need WordPress 6.5'],
  ['the source is missing', {}, { HOMEPORT_WORDPRESS_SOURCE: '/nowhere' }, 'warning', '/nowhere'],
  [
    'the only source is missing',
    { versions: [] },
    { HOMEPORT_WORDPRESS_SOURCE: '/nowhere' },
    'problem',
    '/nowhere',
  ],
  ['more memory than there is', {}, { HOMEPORT_EMBEDDED_PHP_MB: '5000' }, 'warning', 'has 4000 MiB'],
  ['too little memory', {}, { HOMEPORT_EMBEDDED_PHP_MB: '100' }, 'warning', 'takes up to 440 MiB'],
  [
    'a machine without PHP-FPM',
    { machine: { reason: 'PHP-FPM is not installed' } },
    { HOMEPORT_EMBEDDED_PHP: 'machine' },
    'problem',
    "WordPress cannot run on this machine's PHP: PHP-FPM is not installed.",
  ],
  [
    'the PHP of the machine',
    { machine: { version: '8.2.9' } },
    {},
    'ok',
    '2 websites run PHP 8.2.9 of this machine',
  ],
  [
    'a machine without PHP-FPM that may use WebAssembly',
    { machine: { reason: 'PHP-FPM is not installed' } },
    { HOMEPORT_EMBEDDED_PHP: 'auto' },
    'ok',
    'They do not use the PHP of this machine: PHP-FPM is not installed.',
  ],
  [
    'websites that lost the PHP of the machine',
    { machine: { reason: 'PHP-FPM is not installed' }, isLost: true },
    { HOMEPORT_EMBEDDED_PHP: 'auto' },
    'warning',
    'Websites ran on the PHP of this machine, and run PHP 8.4 as WebAssembly now: PHP-FPM is not installed.',
  ],
  [
    'a PHP of the machine that the server may not have found when it started',
    { machine: { version: '8.2.9' }, websites: 0 },
    { HOMEPORT_EMBEDDED_PHP: 'auto' },
    'ok',
    'run PHP 8.2.9 of this machine in bubblewrap at the same time. If they could not when Homeport started',
  ],
  [
    'a PHP of the machine that a website may have started without',
    { machine: { version: '8.2.9' } },
    { HOMEPORT_EMBEDDED_PHP: 'auto' },
    'ok',
    'at the same time. A website that started while that PHP was lost runs as WebAssembly until its next start.',
  ],
  ['no bubblewrap', { unconfined }, {}, 'warning', 'PHP runs without bubblewrap: bwrap is not installed.'],
])('%s', async (_what, changes, environment, state, message) => {
  const findings = await found(changes, environment);
  expect(findings).toMatchObject([{ state, message: expect.stringContaining(message) }]);
  expect(findings[0]?.remedy === null).toBe(state === 'ok');
});

test('says why websites do not use the PHP of the machine beside other findings', async () => {
  const machine = { reason: 'bwrap is not installed' };
  expect(await found({ machine, unconfined }, { HOMEPORT_EMBEDDED_PHP: 'auto' })).toMatchObject([
    { state: 'warning', message: expect.stringContaining('PHP runs without bubblewrap') },
    { state: 'ok', message: expect.stringContaining('that of this machine: bwrap is not installed.') },
  ]);
});

test('looks at the folder of the host', async () => {
  expect(await embeddedWordPress({ dataDir: folder.path, embeddedPhp: 'wasm' })).toMatchObject({
    versions: [],
    websites: 0,
  });
  for (const name of ['6.7', '6.10', '.unfinished']) {
    mkdirSync(join(folder.path, 'host/wordpress', name), { recursive: true });
  }
  expect((await embeddedWordPress({ dataDir: folder.path, embeddedPhp: 'wasm' })).versions).toEqual([
    '6.10',
    '6.7',
  ]);
});
