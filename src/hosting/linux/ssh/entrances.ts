import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../error-code.ts';
import { PermanentHostError } from '../../host.ts';
import { foldersOf, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import { readSystemFile, writeSystemFile } from '../isolation/system-file.ts';
import type { LinuxLayout } from '../layout.ts';

/**
 * What leads a log-in into its sandbox, for `session.pl`: one file for each install, named by its user id, in which each way in is a
 * line of its name and its arguments, divided by NUL. What was asked for is put behind.
 */
export const entrancesFolder = (layout: LinuxLayout): string => join(layout.ssh, 'entrances');

/** Has the next session of the install begin in `install`'s sandbox as it is now. */
export async function writeEntrances(layout: LinuxLayout, install: SandboxedInstall): Promise<void> {
  const path = join(entrancesFolder(layout), String(install.uid));
  const text = renderEntrances(layout, install);
  if ((await readSystemFile(path)) !== text)
    await writeSystemFile(path, text, { mode: 0o644, lasting: false });
}

/** Those of an install that is being removed. */
export async function removeEntrances(layout: LinuxLayout, installId: string): Promise<void> {
  const folder = entrancesFolder(layout);
  for (const name of await namesIn(folder)) {
    const text = await readSystemFile(join(folder, name));
    if (text.startsWith(firstLine(installId))) await rm(join(folder, name), { force: true });
  }
}

/** The text of the file. Throws a {@link PermanentHostError} if an argument cannot stand in it. */
export function renderEntrances(layout: LinuxLayout, install: SandboxedInstall): string {
  const { private: hidden } = foldersOf(layout, install);
  // The home is root's, so bash could keep no history there.
  const environment = { HISTFILE: join(hidden, '.bash_history') };
  // It takes variables before the command, and becomes the command.
  const rest = ['/usr/bin/env'] as const;
  const ways = {
    sftp: sandboxCommand(layout, install, rest, { user: 'already' }),
    plain: sandboxCommand(layout, install, rest, { user: 'already', environment }),
    terminal: sandboxCommand(layout, install, rest, { user: 'already', environment, terminal: true }),
  };
  const lines = Object.entries(ways).map(
    ([name, command]) => `${[name, ...command.map(checked)].join('\0')}\n`,
  );
  return firstLine(install.id) + lines.join('');
}

function firstLine(installId: string): string {
  return `install\0${installId}\n`;
}

function checked(argument: string): string {
  if (!/[\n\0]/.test(argument)) return argument;
  throw new PermanentHostError('a path of the host has a line break in it');
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
