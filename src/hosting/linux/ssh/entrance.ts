import { PermanentHostError } from '../../contract/host.ts';
import { foldersOf, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** What a session is for: SFTP, or a command or shell without a terminal or with one. */
export const WAYS = ['sftp', 'plain', 'terminal'] as const;
export type Way = (typeof WAYS)[number];

/** It takes variables before the command, and becomes the command. */
const REST = ['/usr/bin/env'] as const;

/** What `session.pl` runs, with what was asked for behind it: it leads into the sandbox of the install whose user it is. */
export function entranceOf(layout: LinuxLayout, install: SandboxedInstall, way: Way): string[] {
  if (way === 'sftp') return sandboxCommand(layout, install, REST, { user: 'already' });
  // The home is root's, so bash could keep no history there.
  const environment = { HISTFILE: `${foldersOf(layout, install).private}/.bash_history` };
  return sandboxCommand(layout, install, REST, {
    user: 'already',
    environment,
    terminal: way === 'terminal',
  });
}

/** As `session.pl` reads it. Throws a {@link PermanentHostError} if an argument cannot be said so. */
export function renderEntrance(entrance: readonly string[]): string {
  if (entrance.some((argument) => argument.includes('\0'))) {
    throw new PermanentHostError('an argument of the sandbox has a NUL in it');
  }
  return `${entrance.map((argument) => `${argument}\0`).join('')}\n`;
}

/** Which process asks for which way in; null for what is no question of `session.pl`. */
export function parseSessionQuestion(line: string): { pid: number; way: Way } | null {
  const [, pid, word] = /^(\d{1,10}) ([a-z]+)$/.exec(line) ?? [];
  const way = WAYS.find((one) => one === word);
  return pid === undefined || way === undefined ? null : { pid: Number(pid), way };
}
