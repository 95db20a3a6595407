import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, CommanderError } from 'commander';
import { vi } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { reportFailure } from '../../src/cli/terminal/report-failure.ts';
import type { Ended, Environment } from './run-homeport.ts';

/** Those of this process are one after the other: each has its environment and its output for itself. */
let last: Promise<unknown> = Promise.resolve();
/** Less than the time limit of a test: a command that never ends must not block those of later tests. */
const PATIENCE_MS = 110_000;

/**
 * Runs a command to its end in this process, which takes a tenth of the time of a child process. Signals, loaded modules, logs and locks
 * need {@link run}.
 */
export function call(environment: Environment, ...words: string[]): Promise<Ended> {
  const ended = last.then(() => callAlone(environment, words));
  last = Promise.race([ended.catch(() => undefined), sleep(PATIENCE_MS, undefined, { ref: false })]);
  return ended;
}

/** The same, where it must succeed; returns its JSON. */
export async function callJson(environment: Environment, ...words: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await call(environment, ...words, '--json');
  if (code !== 0) throw new Error(`homeport ${words.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

async function callAlone(environment: Environment, words: string[]): Promise<Ended> {
  const before = { env: process.env, exitCode: process.exitCode };
  const printed = { stdout: '', stderr: '' };
  const spies = [captured('stdout', printed), captured('stderr', printed)];
  const { PATH, HOME, HOMEPORT_COMMAND } = before.env;
  process.env = { PATH, HOME, HOMEPORT_COMMAND, ...environment };
  process.exitCode = undefined;
  try {
    await throwingInsteadOfExiting(createProgram()).parseAsync(words, { from: 'user' });
  } catch (error) {
    // The command has printed the reason.
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else reportFailure(error);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  const code = Number(process.exitCode ?? 0);
  process.env = before.env;
  process.exitCode = before.exitCode;
  return { code, ...printed };
}

function captured(stream: 'stdout' | 'stderr', printed: Record<'stdout' | 'stderr', string>) {
  return vi.spyOn(process[stream], 'write').mockImplementation((chunk) => {
    printed[stream] += String(chunk);
    return true;
  });
}

function throwingInsteadOfExiting(command: Command): Command {
  command.exitOverride();
  for (const inner of command.commands) throwingInsteadOfExiting(inner);
  return command;
}
