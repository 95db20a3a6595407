import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { configOf } from '../platform/configuration.ts';
import { createProgram } from '../program.ts';
import { settingsOfMachine } from './machine-settings.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-machine-'));
  file = join(folder, 'homeport.conf');
});
afterEach(() => rm(folder, { recursive: true }));

test('the settings of set-up count without systemd, once there are any', async () => {
  expect(settingsOfMachine({ file, isBootedBySystemd: false })).toBeUndefined();
  await writeFile(file, '');
  expect(settingsOfMachine({ file, isBootedBySystemd: false })).toBe(file);
  // The services name the file, and everything else on the machine is started with its own settings.
  expect(settingsOfMachine({ file, isBootedBySystemd: true })).toBeUndefined();
});

test('commands take them, unless they name another file', async () => {
  await writeFile(file, 'HOMEPORT_SITE_DOMAIN=sites.machine.test\n');
  const named = join(folder, 'named.conf');
  await writeFile(named, 'HOMEPORT_SITE_DOMAIN=sites.named.test\n');
  const domainOf = async (...words: string[]) => {
    const program = createProgram(() => file);
    let domain = '';
    program.command('try').action((_options, command) => {
      domain = configOf(command).siteDomain;
    });
    await program.parseAsync(['node', 'homeport', ...words, 'try']);
    return domain;
  };
  expect(await domainOf()).toBe('sites.machine.test');
  expect(await domainOf('--config', named)).toBe('sites.named.test');
});
