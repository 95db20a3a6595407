import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A clone with its own cache folder, and the packages of this one. */
let clone: string;
beforeAll(() => {
  clone = realpathSync(mkdtempSync(join(tmpdir(), 'homeport-program-')));
  for (const name of ['bin', 'src', 'packages', 'package.json']) {
    cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  }
  mkdirSync(join(clone, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.'))
      symlinkSync(join(ROOT, 'node_modules', name), join(clone, 'node_modules', name));
  }
});
afterAll(() => rmSync(clone, { recursive: true }));

function node(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: clone, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const programs = () => join(clone, 'node_modules/.cache/homeport/programs');
const build = () => node('bin/build-program.ts', '--if-writable');
/** What the launcher runs: a folder of modules, or nothing. */
const built = () =>
  node(
    '--input-type=module',
    '-e',
    `const { findBuiltProgram } = await import('${join(clone, 'bin/built-program.ts')}'); console.log(findBuiltProgram() ?? 'sources');`,
  ).trim();

/** Puts a copy in place of a file. The returned function puts the file back with its time, because a build takes far longer. */
function replaced(path: string): () => void {
  const original = join(clone, 'original');
  renameSync(path, original);
  cpSync(original, path, { preserveTimestamps: true });
  return () => renameSync(original, path);
}

it('is built once, and runs the same commands as its sources', () => {
  expect(built()).toBe('sources');
  const help = node('bin/homeport.mjs', 'install', '--help');
  expect(build()).toBe('built\n');
  expect(built()).toBe(
    join(programs(), readdirSync(programs()).find((name) => name.startsWith('build-')) ?? '', 'main.mjs'),
  );
  expect(node('bin/homeport.mjs', 'install', '--help')).toBe(help);
  expect(build()).toBe('present\n');
  // As "npm run build": a running server still loads modules of its own build, so none is replaced in vain.
  expect(node('bin/build-program.ts')).toBe('present\n');
});

it('has only modules that load, and that find the files beside their sources', () => {
  const folder = join(built(), '..');
  const modules = readdirSync(folder).filter((name) => name !== 'main.mjs');
  expect(modules.length).toBeGreaterThan(10);
  node(
    '--input-type=module',
    '-e',
    modules.map((name) => `await import('${join(folder, name)}');`).join('\n'),
  );
  const text = modules.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  expect(text).toContain(JSON.stringify('../../../../../src/network/webhooks/sender.ts'));
  expect(text).not.toContain(clone);
});

it.each([
  ['empty', (path: string) => truncateSync(path)],
  ['gone', (path: string) => rmSync(path)],
])('is not used, and is built again, if one of its modules is %s', (_state, damage) => {
  for (const name of ['main.mjs', 'clock.mjs']) {
    const path = join(built(), '..', name);
    const putBack = replaced(path);
    damage(path);
    expect(built(), name).toBe('sources');
    putBack();
    expect(built(), name).not.toBe('sources');
  }
  damage(join(built(), '..', 'clock.mjs'));
  expect(build()).toBe('built\n');
  expect(built()).not.toBe('sources');
});

it('leaves nothing of a build that fails at its end', () => {
  const record = join(programs(), 'current.json');
  const before = readdirSync(programs());
  rmSync(record);
  mkdirSync(record);
  const { status } = spawnSync(process.execPath, ['bin/build-program.ts'], { cwd: clone });
  expect({ status, left: readdirSync(programs()) }).toEqual({ status: 1, left: before });
  rmSync(record, { recursive: true });
  expect(build()).toBe('built\n');
});

it('is used by a copy of the folder, with the files of the copy', () => {
  const copy = `${clone}-copy`;
  try {
    // Keeps the times exactly, unlike Node's.
    spawnSync('cp', ['-a', clone, copy]);
    const print = (...words: string[]) =>
      spawnSync(process.execPath, words, { cwd: copy, encoding: 'utf8' }).stdout.trim();
    const find = `console.log((await import('./bin/built-program.ts')).findBuiltProgram())`;
    expect(print('--input-type=module', '-e', find)).toBe(built().replace(clone, copy));
    writeFileSync(join(copy, 'src/database/migrations/9999-of-the-copy.ts'), '');
    expect(print('bin/homeport.mjs', '--version')).toContain('schema 9999-of-the-copy');
  } finally {
    rmSync(copy, { recursive: true });
  }
});

it('is outdated if a source or a library has changed', () => {
  const kysely = join(clone, 'node_modules/kysely');
  rmSync(kysely);
  cpSync(join(ROOT, 'node_modules/kysely'), kysely, { recursive: true, preserveTimestamps: true });
  expect(built()).not.toBe('sources');
  const manifest = join(kysely, 'package.json');
  const { mtime, atime } = statSync(manifest);
  writeFileSync(
    manifest,
    readFileSync(manifest, 'utf8').replace(/"version": "[^"]+"/, '"version": "0.99.9"'),
  );
  // npm gives the files of all versions the same time.
  utimesSync(manifest, atime, mtime);
  expect(built()).toBe('sources');
  expect(build()).toBe('built\n');
  expect(built()).not.toBe('sources');

  for (const path of ['src/main.ts', 'bin/build-program.ts']) {
    const putBack = replaced(join(clone, path));
    appendFileSync(join(clone, path), '// changed\n');
    expect(built(), path).toBe('sources');
    putBack();
    expect(built(), path).not.toBe('sources');
  }
  rmSync(join(clone, 'src/lib/clock.ts'));
  expect(built()).toBe('sources');
});
