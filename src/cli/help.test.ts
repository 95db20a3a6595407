import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from './program.ts';

/** Each that does something, by its words. The commands of `api` come from the description and have tests of their own. */
const COMMANDS = createProgram()
  .commands.filter((command) => command.name() !== 'api')
  .flatMap(wordsOf);

function wordsOf(command: Command): string[] {
  if (command.commands.length === 0) return [command.name()];
  return command.commands.flatMap(wordsOf).map((words) => `${command.name()} ${words}`);
}

/** A command and all below it. */
function withInner(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withInner)];
}

/** Output and exit status of a call that fails before it does anything. */
async function call(...words: string[]): Promise<{ code: number; printed: string }> {
  let printed = '';
  const program = createProgram();
  for (const command of withInner(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => {
        printed += text;
      },
      writeErr: (text) => {
        printed += text;
      },
    });
  }
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return { code: error.exitCode, printed };
    throw error;
  }
  throw new Error(`${words.join(' ')} went to work`);
}

test.each(COMMANDS)('%s --help', async (command) => {
  const { code, printed } = await call(...command.split(' '), '--help');
  expect(code).toBe(0);
  expect(printed).toContain(`Usage: homeport ${command}`);
  expect(printed).toContain(`Example:\n  homeport ${command}`);
  if (/list|create|restore|doctor|migrate/.test(command)) expect(printed).toContain('--json');
  for (const option of printed.match(/^ {2}-.*$/gm) ?? []) {
    expect(option, 'every option says what it is').toMatch(/^ {2}\S.*\S {2,}\S/);
  }
});

/** The table of commands in the README: the groups of each row with their commands. */
function documented(): Map<string, string[]> {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const [, section = ''] = /^## Command line$([\s\S]*?)^## /m.exec(readme) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.map((row) => {
      const [, names = '', inner = ''] = row.split('|');
      const words = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
      return [words(names).join(' '), words(inner)];
    }),
  );
}

test('the README names every command, and no other', () => {
  const table = documented();
  const { commands } = createProgram();
  expect([...table.keys()].sort()).toEqual(commands.map((command) => command.name()).sort());
  for (const command of commands) {
    const inner = command.commands.map((one) => one.name());
    expect([...(table.get(command.name()) ?? [])].sort(), command.name()).toEqual(inner.sort());
  }
});

test.each([
  ...COMMANDS,
  'account',
  'user',
  'credential',
  'site',
  'install',
  'domain',
  'backup',
  'operation',
  'host',
  'platform',
  'platform backup',
])('%s --help fits a terminal', async (command) => {
  const { printed } = await call(...command.split(' '), '--help');
  const [help = ''] = printed.split('Example:', 1);
  expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test.each([
  ['installs apply', 'install'],
  ['installs core', 'install'],
])('%s, its name before, goes on working', async (command, group) => {
  const { code, printed } = await call(...command.split(' '), '--help');
  expect(code).toBe(0);
  expect(printed).toContain(`Usage: homeport ${group}`);
});

test('--config stands before the command or after it', async () => {
  for (const words of [
    ['--config', '/nowhere/settings', 'account', 'list'],
    ['account', 'list', '--config', '/nowhere/settings'],
  ]) {
    await expect(call(...words)).rejects.toThrow('/nowhere/settings cannot be read');
  }
});

test('an error names the help of its command', async () => {
  expect((await call('user', 'change')).printed).toContain('(see homeport user change --help)');
});

test.each(['account', 'user', 'credential', 'install', 'backup'])(
  '%s alone shows what there is',
  async (group) => {
    const { code, printed } = await call(group);
    expect(code).toBe(1);
    expect(printed).toContain(`Usage: homeport ${group}`);
  },
);

const ID = '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11';
const person = ['--email', 'a@b.example', '--first-name', 'A', '--last-name', 'B'];

test.each([
  ['acount list', ['acount', 'list'], "unknown command 'acount'"],
  ['account lst', ['account', 'lst'], "unknown command 'lst'"],
  ['host lst', ['host', 'lst'], "unknown command 'lst'"],
  ['an unknown option', ['migrate', '--jsn'], "unknown option '--jsn'"],
  ['too much', ['account', 'list', 'all'], 'too many arguments'],
  ['no name', ['account', 'create'], "required option '--name <name>' not specified"],
  ['a blank name', ['account', 'create', '--name', ' '], 'must not be empty'],
  ['a long name', ['account', 'create', '--name', 'x'.repeat(101)], 'longer than 100'],
  [
    'no role',
    ['user', 'create', '--account', ID, '--roles', 'king', ...person],
    'It must be one of: owner | full,billing | full | partial,billing | partial',
  ],
  [
    'no first name',
    ['user', 'create', '--account', ID, '--roles', 'full', '--email', 'a@b.example', '--last-name', 'B'],
    "required option '--first-name <name>' not specified",
  ],
  ['nobody', ['credential', 'create'], "required option '--user <email>' not specified"],
  ['no username', ['credential', 'revoke'], "missing required argument 'username'"],
  ['a bad username', ['credential', 'revoke', 'me'], 'It must be an id'],
  ['a bad backup', ['backup', 'restore', '7'], 'It must be an id'],
])('%s: one line, and 1', async (_what, words, line) => {
  const { code, printed } = await call(...words);
  expect(code).toBe(1);
  const [first = ''] = printed.split('\n', 1);
  expect(first).toMatch(/^error: /);
  expect(first).toContain(line);
});
