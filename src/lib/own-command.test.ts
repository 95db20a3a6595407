import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandOf, ownProgram, withCommand } from './own-command.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-command-'));
  for (const root of ['release', "with 'space'", 'clone/bin', 'other', 'PATH', 'PATH of another']) {
    mkdirSync(join(folder, root), { recursive: true });
  }
  for (const file of [
    'release/homeport',
    "with 'space'/homeport",
    'clone/bin/homeport.mjs',
    'other/homeport',
  ])
    writeFileSync(join(folder, file), '');
  symlinkSync('../release/homeport', join(folder, 'PATH/homeport'));
  symlinkSync('../other/homeport', join(folder, 'PATH of another/homeport'));
});
afterAll(() => rm(folder, { recursive: true }));

const at = (root: string, given: Partial<Parameters<typeof commandOf>[0]> = {}) =>
  commandOf({
    root: join(folder, root),
    isRelease: root !== 'clone',
    named: undefined,
    path: '/usr/bin:/bin',
    folder: '/',
    words: ['serve'],
    user: 'ada',
    ...given,
  }).replace(folder, '…');

test('a release in PATH', () => {
  expect(at('release', { path: `/nowhere:${join(folder, 'PATH')}:/bin` })).toBe('homeport');
});

test('a release that PATH does not have, or has another of', () => {
  expect(at('release')).toBe('…/release/homeport');
  const path = [join(folder, 'PATH of another'), join(folder, 'PATH')].join(':');
  expect(at('release', { path })).toBe('…/release/homeport');
  expect(at("with 'space'")).toBe(String.raw`'…/with '\''space'\''/homeport'`);
});

test('a clone: in its folder, and elsewhere', () => {
  expect(at('clone', { folder: join(folder, 'clone') })).toBe('npx homeport');
  expect(at('clone')).toBe('…/clone/bin/homeport.mjs');
});

test('the settings file of the process belongs to its commands', () => {
  const words = ['--config', '/etc/homeport/homeport.conf', 'doctor'];
  expect(at('clone', { folder: join(folder, 'clone'), words })).toBe(
    'npx homeport --config /etc/homeport/homeport.conf',
  );
});

test('the services of a package run as a user who never signs in', () => {
  const words = ['--config', '/etc/homeport/homeport.conf', 'serve'];
  const path = join(folder, 'PATH');
  const service = 'homeport --config /etc/homeport/homeport.conf';
  expect(at('release', { path, words, user: 'homeport' })).toBe(`sudo -u homeport ${service}`);
  expect(at('release', { path, words, user: 'root' })).toBe(service);
  expect(at('release', { path, words, user: null })).toBe(service);
  expect(at('release', { path, user: 'homeport' })).toBe('homeport');
});

test.each([
  [['--config=/etc/homeport.conf', 'doctor'], ' --config /etc/homeport.conf'],
  [['--config', '/etc/first', 'doctor', '--config', '/etc/last'], ' --config /etc/last'],
  [['install', 'wp', 'shop', '--', 'core', '--config', 'x'], ''],
  [['doctor', '--configure'], ''],
])('settings of %j', (words, shown) => {
  expect(at('clone', { folder: join(folder, 'clone'), words })).toBe(`npx homeport${shown}`);
});

test('folders of PATH that cannot be looked at', () => {
  const path = ['x'.repeat(300), join(folder, 'PATH')].join(':');
  expect(at('release', { path })).toBe('homeport');
});

test('the program of a clone has a path that works everywhere', () => {
  expect(ownProgram()).toBe(join(import.meta.dirname, '../../bin/homeport.mjs'));
});

test('HOMEPORT_COMMAND takes precedence', () => {
  const named = 'docker compose exec homeport homeport';
  expect(at('clone', { named })).toBe(named);
  expect(at('clone', { named: ' ' })).toBe('…/clone/bin/homeport.mjs');
});

test.each([
  ['Start it ("homeport serve"), then try again.', 'Start it ("RUN serve"), then try again.'],
  ['Usage: homeport install [options]', 'Usage: RUN install [options]'],
  ['(see homeport install --help)', '(see RUN install --help)'],
  ['(see homeport --help)', '(see RUN --help)'],
  ['Example:\n  homeport site list', 'Example:\n  RUN site list'],
  ['homeport a b lists it; homeport c d deletes it.', 'RUN a b lists it; RUN c d deletes it.'],
  ['sudo A=b homeport host setup', 'sudo A=b RUN host setup'],
  ['homeport: no database', 'homeport: no database'],
  ['systemctl restart homeport homeport-host', 'systemctl restart homeport homeport-host'],
  ['"homeport"', '"homeport"'],
])('%j', (text, shown) => {
  expect(withCommand(text, 'RUN')).toBe(shown);
});
