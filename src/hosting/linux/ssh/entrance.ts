import { isIP } from 'node:net';
import { PermanentHostError } from '../../contract/errors.ts';
import { foldersOf, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** Purpose of a session: SFTP, or a command or shell without or with a terminal. */
export const WAYS = ['sftp', 'plain', 'terminal'] as const;
export type Way = (typeof WAYS)[number];

/** Takes variables before the command, and becomes the command. */
const REST = ['/usr/bin/env'] as const;

/**
 * The command that `session.pl` runs, followed by the user's command: it enters the sandbox of the user's install. `environment`: of
 * shells and their commands. A shell with a terminal starts in a folder that the user can write to. SFTP and commands start in the home,
 * because clients such as rsync name paths relative to it.
 */
export function entranceOf(
  layout: LinuxLayout,
  install: SandboxedInstall,
  way: Way,
  environment: Record<string, string> = {},
): string[] {
  if (way === 'sftp') return sandboxCommand(layout, install, REST, { user: 'already', network: false });
  return sandboxCommand(layout, install, REST, {
    user: 'already',
    tools: true,
    environment,
    ...(way === 'terminal' ? { terminal: true, preferredFolder: foldersOf(layout, install).private } : {}),
  });
}

/** Encoded for `session.pl`. Throws a {@link PermanentHostError} if an argument cannot be encoded. */
export function renderEntrance(entrance: readonly string[]): string {
  if (entrance.some((argument) => argument.includes('\0'))) {
    throw new PermanentHostError('an argument of the sandbox contains a NUL');
  }
  return `${entrance.map((argument) => `${argument}\0`).join('')}\n`;
}

/** Parses a question of `session.pl`: process, purpose and the user's address; null if it is invalid. */
export function parseSessionQuestion(line: string): { pid: number; way: Way; address: string | null } | null {
  const [, pid, word, from = ''] = /^(\d{1,10}) ([a-z]+)(?: ([0-9a-fA-F:.]{1,45}))?$/.exec(line) ?? [];
  const way = WAYS.find((one) => one === word);
  if (pid === undefined || way === undefined) return null;
  return { pid: Number(pid), way, address: isIP(from) === 0 ? null : from };
}
