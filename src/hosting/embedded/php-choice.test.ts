import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MACHINE_MEMORY } from '../policy/wasm-php-limits.ts';
import { type OtherPhp, PhpLostError } from '../runtime/wasm/php-engine.ts';
import { BEGAN_IN_WASM, type PhpSetting, phpAsChosen, reportPhp } from './php-choice.ts';

let folder: string;
let file: string;
/** The versions of PHP that the machine has, the newest first. */
let installed: string[];
let hasWordPress: boolean;
let warnings: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'php-choice-'));
  file = join(folder, 'php.json');
  installed = ['8.2.30'];
  hasWordPress = false;
  warnings = [];
});
afterEach(() => rm(folder, { recursive: true }));

const machine: OtherPhp = {
  memory: MACHINE_MEMORY,
  isRequired: true,
  async create(_folder, preferred) {
    const version = installed.find((one) => one.startsWith(`${preferred}.`)) ?? installed[0];
    if (version === undefined) throw new Error('PHP-FPM is not installed');
    const unused = async () => {
      throw new Error('unused');
    };
    return { version, walls: 'none', start: unused, isUsable: unused, close: async () => undefined };
  },
};

const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) });

/** Starts with that setting. Returns the version of the machine's PHP, or why websites run in WebAssembly. */
async function start(setting: PhpSetting = 'auto'): Promise<string> {
  const php = phpAsChosen(machine, { setting, file, hasWordPress: async () => hasWordPress, log });
  expect(php.isRequired).toBe(setting === 'machine');
  try {
    return (await php.create(folder)).version;
  } catch (error) {
    return error instanceof Error ? error.message : 'no error';
  }
}

test('a new host takes the PHP of the machine, and keeps it', async () => {
  expect(await start()).toBe('8.2.30');
  hasWordPress = true;
  expect(await start()).toBe('8.2.30');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ engine: 'machine', version: '8.2' });
  expect(warnings).toEqual([]);
});

test('websites that began in WebAssembly stay there, whatever is installed later', async () => {
  installed = [];
  expect(await start()).toBe('PHP-FPM is not installed');
  installed = ['8.4.1'];
  hasWordPress = true;
  expect(await start()).toBe(BEGAN_IN_WASM);
  expect(await start('machine')).toBe('8.4.1');
  expect(await start()).toBe('8.4.1');
  expect(await start('wasm')).toContain('HOMEPORT_EMBEDDED_PHP=wasm');
  expect(await start()).toBe(BEGAN_IN_WASM);
});

test('a host without websites takes what was installed since its last start', async () => {
  installed = [];
  await start();
  installed = ['8.4.1'];
  expect(await start()).toBe('8.4.1');
});

test('websites of an earlier version of Homeport, which kept no choice, stay in WebAssembly', async () => {
  hasWordPress = true;
  expect(await start()).toBe(BEGAN_IN_WASM);
  expect(await start('machine')).toBe('8.2.30');
});

test('a version of PHP that is installed beside the former one is taken when that is removed', async () => {
  await start();
  hasWordPress = true;
  installed = ['8.4.1', '8.2.31'];
  expect(await start()).toBe('8.2.31');
  expect(await start('machine')).toBe('8.2.31');
  expect(warnings).toEqual([]);
  installed = ['8.4.1'];
  expect(await start()).toBe('8.4.1');
  expect(warnings).toEqual(["websites get another version of the machine's PHP"]);
});

test('websites that lost the PHP of the machine run in WebAssembly until it is back', async () => {
  await start();
  hasWordPress = true;
  installed = [];
  const php = phpAsChosen(machine, { setting: 'auto', file, hasWordPress: async () => hasWordPress, log });
  for (const _ of [1, 2]) {
    await expect(php.create(folder)).rejects.toThrow(new PhpLostError('PHP-FPM is not installed'));
  }
  expect(warnings).toEqual([expect.stringContaining('run in WebAssembly until it is back')]);
  installed = ['8.2.30'];
  expect((await php.create(folder)).version).toBe('8.2.30');
  installed = [];
  expect(await start()).toBe('PHP-FPM is not installed');
  installed = ['8.2.30'];
  expect(await start()).toBe('8.2.30');
});

test('websites that are created after the machine lost its PHP begin in WebAssembly, and stay there', async () => {
  await start();
  installed = [];
  expect(await start()).toBe('PHP-FPM is not installed');
  expect(warnings).toEqual([]);
  hasWordPress = true;
  installed = ['8.2.30'];
  expect(await start()).toBe(BEGAN_IN_WASM);
});

test('websites that were created on the PHP of the machine are asked for when it is lost', async () => {
  const php = phpAsChosen(machine, { setting: 'auto', file, hasWordPress: async () => hasWordPress, log });
  await php.create(folder);
  hasWordPress = true;
  installed = [];
  await expect(php.create(folder)).rejects.toThrow(PhpLostError);
});

test('a file that cannot be read is no choice', async () => {
  hasWordPress = true;
  await writeFile(file, '{"engine":');
  expect(await start()).toBe(BEGAN_IN_WASM);
  expect(await start('machine')).toBe('8.2.30');
});

test('a version is reported once, by one server after the other', async () => {
  await start();
  const reported: string[] = [];
  const report = async (version: string) => void reported.push(version);
  for (const version of ['8.2', '8.2', '8.4', '8.4']) await reportPhp(file, version, report);
  expect(reported).toEqual(['8.2', '8.4']);
  await expect(reportPhp(file, '8.5', () => Promise.reject(new Error('no database')))).rejects.toThrow();
  await start();
  await reportPhp(file, '8.4', report);
  await reportPhp(file, '8.5', report);
  expect(reported).toEqual(['8.2', '8.4', '8.5']);
});

test('a choice that is made during a report is kept', async () => {
  await start();
  await reportPhp(file, '8.2', async () => {
    installed = ['8.4.1'];
    await start();
  });
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    ...{ engine: 'machine', version: '8.4', reported: '8.2' },
  });
});
