import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyTree } from './copy-tree.ts';

let folder: string;
const at = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copy-tree-'));
});
afterEach(async () => {
  if (writers.length === 0) openPipes();
  for (const writer of writers.splice(0)) closeSync(writer);
  pipes.length = 0;
  await rm(folder, { recursive: true });
});

/** Opening one of them hangs until it is opened for writing. */
const pipes: string[] = [];
const writers: number[] = [];

function openPipes(): void {
  for (const pipe of pipes) writers.push(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
}

it('copies folders and files with their modes', async () => {
  await mkdir(at('from/inner/more'), { recursive: true });
  await chmod(at('from/inner'), 0o750);
  for (const name of ['a', 'b', 'inner/c', 'inner/more/d']) await writeFile(at(`from/${name}`), name);
  await chmod(at('from/a'), 0o640);
  await copyTree(at('from'), at('to'));
  for (const name of ['a', 'b', 'inner/c', 'inner/more/d'])
    expect(await readFile(at(`to/${name}`), 'utf8')).toBe(name);
  expect((await stat(at('to/inner'))).mode & 0o777).toBe(0o750);
  expect((await stat(at('to/a'))).mode & 0o777).toBe(0o640);
});

it('leaves threads for the commits of the database if the files of several copies hang', async () => {
  for (const copy of ['one', 'two']) {
    await mkdir(at(copy));
    for (const name of ['a', 'b', 'c', 'd']) pipes.push(at(`${copy}/${name}`));
  }
  execFileSync('mkfifo', pipes);
  let hasEnded = false;
  const copies = Promise.all([copyTree(at('one'), at('to-one')), copyTree(at('two'), at('to-two'))]);
  const ended = copies.finally(() => {
    hasEnded = true;
  });
  // Each call needs a thread. Without a free one, the first would not end.
  for (let asked = 0; asked < 20; asked++) await stat(folder);
  expect(hasEnded).toBe(false);
  openPipes();
  await ended;
});
