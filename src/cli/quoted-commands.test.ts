import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from './program.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Texts that begin with "homeport" and are no commands: names of locks, channels, caches, units and owners. */
const NAMES = ['changes', 'generation', 'homeport', 'nginx', 'sealing'];

/** The texts that people read: sources without tests, the portal and the documents. The changelog has commands of earlier versions. */
function readFiles(...paths: string[]): string[] {
  return paths
    .flatMap((path) => [path, ...globSync(`${path}/**/*`, { cwd: ROOT })])
    .filter((path) => /\.(ts|tsx|md)$/.test(path) && !/[-.](test|fixture)\.tsx?$/.test(path));
}

/**
 * The words after each "homeport" that begins a command: in quotes, in a sentence, or at the start of a line. After "exec", it is the
 * service of a compose file, and any program can follow.
 */
function commandsIn(text: string): string[][] {
  return [...text.matchAll(/(?<=^|[\s"'`>(])(?<!\bexec (?:-T )?)homeport((?: [a-z][a-z-]*)+)/gm)].map(
    ([, words = '']) => words.trim().split(' '),
  );
}

/** The first word that is no command where one belongs; null if all are. */
function unknownWord(words: readonly string[], program: Command): string | null {
  let command = program;
  for (const word of words) {
    if (command.commands.length === 0) return null;
    const inner = command.commands.find((one) => one.name() === word);
    if (inner === undefined) return word;
    command = inner;
  }
  return null;
}

test('every command that a text names exists, under this name', () => {
  const program = createProgram();
  const named = readFiles('src', 'web', 'docs', 'README.md').flatMap((path) =>
    commandsIn(readFileSync(join(ROOT, path), 'utf8')).map((words) => ({ path, words })),
  );
  expect(named.length).toBeGreaterThan(300);
  const unknown = named
    .filter(({ words: [first = ''] }) => !NAMES.includes(first))
    .filter(({ words }) => unknownWord(words, program) !== null)
    .map(({ path, words }) => `${path}: homeport ${words.join(' ')}`);
  expect(unknown).toEqual([]);
});

/** The calls in a text that write to the terminal, up to their last bracket. */
function callsOfWrite(text: string): string[] {
  return [...text.matchAll(/\bstd(?:out|err)\.write\(/g)].map(({ index, 0: start }) => {
    let open = 1;
    let end = index + start.length;
    for (; open > 0 && end < text.length; end++) open += { '(': 1, ')': -1 }[text.charAt(end)] ?? 0;
    return text.slice(index, end);
  });
}

test('what is printed has commands of this installation', () => {
  const calls = readFiles('src').flatMap((path) => callsOfWrite(readFileSync(join(ROOT, path), 'utf8')));
  expect(calls.length).toBeGreaterThan(150);
  const unchanged = calls.filter((call) => commandsIn(call).length > 0 && !/withOwnCommands?\(/.test(call));
  expect(unchanged).toEqual([]);
});

test('no message names a script of a clone, except for what only clones build', () => {
  const scripts = readFiles('src').flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/npm (run (?:--silent )?[\w:]+|start)\b/g)].map(
      ([script]) => script,
    ),
  );
  expect([...new Set(scripts)].filter((script) => script !== 'npm run build')).toEqual([]);
});

test('an error in another folder names a command that works there', () => {
  const words = [join(ROOT, 'bin/homeport.mjs'), 'install', 'list'];
  const env = { PATH: '/usr/bin:/bin', HOMEPORT_DATA_DIR: join(tmpdir(), 'no data folder of homeport') };
  const { stderr } = spawnSync(process.execPath, words, { env, cwd: tmpdir(), encoding: 'utf8' });
  const [, command = ''] = /"(\S+) serve"/.exec(stderr) ?? [];
  expect(stderr).not.toContain('"homeport');
  expect(execFileSync(process.execPath, [command, '--version'], { encoding: 'utf8' })).toContain('schema');
});

test.each([
  [['install', 'apply', 'shop'], null],
  [['host'], null],
  [['installs', 'apply'], 'installs'],
  [['install', 'aply'], 'aply'],
])('%j', (words, unknown) => {
  expect(unknownWord(words, createProgram())).toBe(unknown);
});
