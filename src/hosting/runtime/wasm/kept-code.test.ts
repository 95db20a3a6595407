import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keptCodeIn } from './kept-code.ts';
import type { ProcessProgram } from './process-program.ts';

let folder: string;
let program: ProcessProgram;
const given = () => join(folder, 'program/php.code');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kept-'));
  await mkdir(join(folder, 'program'));
  program = { folder, entry: 'main.mjs', parts: [{ from: join(folder, 'program'), to: 'code' }] };
});
afterEach(() => rm(folder, { recursive: true }));

it('keeps the code of one version, and gives it to the processes of this server and of later ones', async () => {
  const kept = join(folder, 'kept');
  expect(await keptCodeIn(kept).give(program)).toBe(false);
  await writeFile(join(folder, 'one'), 'code');
  await mkdir(kept);
  await writeFile(join(kept, 'of-another-version'), 'old');
  await keptCodeIn(kept).keep(join(folder, 'one'), program);
  expect(await readFile(given(), 'utf8')).toBe('code');
  expect(await readdir(kept)).toHaveLength(1);
  await rm(given());
  expect(await keptCodeIn(kept).give(program)).toBe(true);
  expect(await readFile(given(), 'utf8')).toBe('code');
});

it('gives no damaged code, which V8 would run', async () => {
  const kept = join(folder, 'kept');
  await writeFile(join(folder, 'one'), 'code');
  await keptCodeIn(kept).keep(join(folder, 'one'), program);
  await rm(given());
  const [name = ''] = await readdir(kept);
  await writeFile(join(kept, name), 'c0de');
  expect(await keptCodeIn(kept).give(program)).toBe(false);
  expect(existsSync(given())).toBe(false);
});

it('gives no code of another PHP, which V8 would run, too', async () => {
  const kept = join(folder, 'kept');
  await writeFile(join(folder, 'one'), 'code');
  await keptCodeIn(kept, async () => 'PHP 3.1').keep(join(folder, 'one'), program);
  expect(await keptCodeIn(kept, async () => 'PHP 3.2').give(program)).toBe(false);
  expect(await keptCodeIn(kept, async () => 'PHP 3.1').give(program)).toBe(true);
});
