import fs from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { addToErrorLog, LONGEST_LOG } from './error-log.ts';

let folder: string;
let log: string;
const now = new Date('2026-11-04T05:06:07.890Z');

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'error-log-')));
  log = join(folder, 'php-error.log');
});
afterEach(() => rm(folder, { recursive: true }));

it('adds lines as PHP writes them', async () => {
  addToErrorLog(log, 'one\nline', now);
  addToErrorLog(log, 'two', now);
  expect(await readFile(log, 'utf8')).toBe(
    '[04-Nov-2026 05:06:07 UTC] one line\n[04-Nov-2026 05:06:07 UTC] two\n',
  );
});

it('puts a long log aside, in place of the one before', async () => {
  await writeFile(`${log}.1`, 'before');
  await writeFile(log, 'long');
  await truncate(log, LONGEST_LOG);
  addToErrorLog(log, 'next', now);
  expect(await readFile(log, 'utf8')).toBe('[04-Nov-2026 05:06:07 UTC] next\n');
  expect((await stat(`${log}.1`)).size).toBe(LONGEST_LOG);
});

it('leaves a long log alone that another thread puts aside at the same time', async () => {
  await writeFile(log, 'long');
  await truncate(log, LONGEST_LOG);
  const { renameSync } = fs;
  const rename = vi.spyOn(fs, 'renameSync').mockImplementationOnce((from, to) => {
    renameSync(from, to);
    renameSync(from, to);
  });
  addToErrorLog(log, 'next', now);
  rename.mockRestore();
  expect(await readFile(log, 'utf8')).toBe('[04-Nov-2026 05:06:07 UTC] next\n');
  expect((await stat(`${log}.1`)).size).toBe(LONGEST_LOG);
});

it('stays short if something else is in the place of the former log', async () => {
  await mkdir(`${log}.1`);
  await writeFile(log, '');
  await truncate(log, LONGEST_LOG);
  addToErrorLog(log, 'next', now);
  expect((await stat(log)).size).toBeLessThan(100);
});

it('follows no link', async () => {
  await mkdir(join(folder, 'other'));
  await symlink(join(folder, 'other'), join(folder, 'linked'));
  expect(() => addToErrorLog(join(folder, 'linked', 'php-error.log'), 'x', now)).toThrow('is a link');
  await symlink(join(folder, 'target'), log);
  expect(() => addToErrorLog(log, 'x', now)).toThrow('ELOOP');
});
