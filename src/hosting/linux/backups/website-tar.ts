import { basename } from 'node:path';
import { PermanentHostError } from '../../contract/host.ts';
import { foldersOf, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { CommandError } from '../machine/run-command.ts';
import { hostLinks } from './host-links.ts';
import { type RunningProgram, startProgram } from './programs.ts';

const TAR = '/usr/bin/tar';
/** Something changed while tar read it: a log grew, a cache was emptied. What was read is there. */
const CHANGED = 1;

/**
 * tar that writes all files of a website. It runs as the install and in its sandbox, so it can read nothing that the install
 * itself could not, whatever links are put in its way meanwhile.
 */
export async function packWebsite(layout: LinuxLayout, install: SandboxedInstall): Promise<RunningProgram> {
  const { home, htdocs, private: hidden } = foldersOf(layout, install);
  const excluded = (await hostLinks(layout, install)).map((path) => `--exclude=${path}`);
  return startProgram(
    sandboxCommand(
      layout,
      install,
      [
        TAR,
        '--create',
        '--file=-',
        '--format=gnu',
        '--blocking-factor=128',
        // In the same order every day, so that what has not changed is stored once.
        '--sort=name',
        '--sparse',
        '--numeric-owner',
        '--owner=0',
        '--group=0',
        '--anchored',
        '--no-wildcards',
        ...excluded,
        '--',
        basename(htdocs),
        basename(hidden),
      ],
      { folder: home },
    ),
    { statuses: [0, CHANGED] },
  );
}

/** tar that makes these files anew in `folder`, which the sandbox shows, as the install. */
export function unpackWebsite(
  layout: LinuxLayout,
  install: SandboxedInstall,
  folder: string,
): RunningProgram {
  return startProgram(
    sandboxCommand(
      layout,
      install,
      [
        TAR,
        '--extract',
        '--file=-',
        '--preserve-permissions',
        '--no-same-owner',
        '--delay-directory-restore',
      ],
      { folder },
    ),
  );
}

/** What of tar's complaints its owner can mend, as a sentence; else the error itself. */
export function explainPacking(error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  const found = /tar: (.+?): Cannot (?:open|read|stat|readlink|savedir|opendir): Permission denied/.exec(
    error.stderr,
  );
  if (found === null) return error;
  return new PermanentHostError(
    `"${found[1]}" cannot be read. Give its owner the permission to read it, or delete it.`,
    { cause: error },
  );
}
