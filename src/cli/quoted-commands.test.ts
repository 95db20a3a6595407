import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from './program.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Texts that begin with "homeport" and are no commands: names of locks, channels, caches, units and owners. */
const NAMES = ['changes', 'generation', 'homeport', 'nginx', 'sealing'];

/** The texts that people read: sources without tests, the portal and the documents. The changelog has commands of earlier versions. */
function readFiles(): string[] {
  const paths = ['src', 'web', 'docs', 'README.md'];
  const listed = execFileSync('git', ['ls-files', ...paths], { cwd: ROOT, encoding: 'utf8' });
  return listed
    .split('\n')
    .filter((path) => /\.(ts|tsx|md)$/.test(path) && !/[-.](test|fixture)\.tsx?$/.test(path));
}

/** The words after each "homeport" that begins a command: in quotes, in a sentence, or at the start of a line. */
function commandsIn(text: string): string[][] {
  return [...text.matchAll(/(?<=^|[\s"'`>(])homeport((?: [a-z][a-z-]*)+)/gm)].map(([, words = '']) =>
    words.trim().split(' '),
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
  const named = readFiles().flatMap((path) =>
    commandsIn(readFileSync(join(ROOT, path), 'utf8')).map((words) => ({ path, words })),
  );
  expect(named.length).toBeGreaterThan(300);
  const unknown = named
    .filter(({ words: [first = ''] }) => !NAMES.includes(first))
    .filter(({ words }) => unknownWord(words, program) !== null)
    .map(({ path, words }) => `${path}: homeport ${words.join(' ')}`);
  expect(unknown).toEqual([]);
});

test.each([
  [['install', 'apply', 'shop'], null],
  [['host'], null],
  [['installs', 'apply'], 'installs'],
  [['install', 'aply'], 'aply'],
])('%j', (words, unknown) => {
  expect(unknownWord(words, createProgram())).toBe(unknown);
});
