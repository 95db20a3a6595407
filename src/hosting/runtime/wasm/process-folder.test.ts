import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createProcessFolder, removeProcessFolders } from './process-folder.ts';

const logged: string[] = [];
const log = pino({ level: 'warn' }, { write: (line: string) => logged.push(line) });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp('/tmp/php-');
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rm(folder, { recursive: true, force: true }));

it('removes what killed servers left in the folder', async () => {
  const made = await createProcessFolder(folder);
  expect(dirname(made)).toBe(folder);
  await writeFile(join(made, 'program'), '');
  await removeProcessFolders(folder, log);
  expect(existsSync(made)).toBe(false);
  await removeProcessFolders(folder, log);
});

it('removes what they left elsewhere, and nothing of other servers', async () => {
  const long = join(folder, 'a'.repeat(80));
  const made = await createProcessFolder(long);
  const other = await createProcessFolder(`${long}b`);
  expect([made, other].map(dirname)).toEqual([tmpdir(), tmpdir()]);
  await writeFile(join(made, 'program'), '');
  await removeProcessFolders(long, log);
  expect([made, other].map(existsSync)).toEqual([false, true]);
  await removeProcessFolders(`${long}b`, log);
  expect(existsSync(other)).toBe(false);
});

it('needs no temporary folder if the path is short enough', async () => {
  vi.stubEnv('TMPDIR', '/dev/null');
  expect(dirname(await createProcessFolder(folder))).toBe(folder);
  await removeProcessFolders(folder, log);
  expect(logged).toEqual([]);
  await removeProcessFolders(join(folder, 'a'.repeat(80)), log);
  expect(logged).toHaveLength(1);
});
