import { basename } from 'node:path';
import { CommandError } from '../../../lib/run-command.ts';
import { type RunningProgram, startProgram } from '../../../lib/started-program.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { foldersOf, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { hostLinks } from './host-links.ts';

const TAR = '/usr/bin/tar';
/** tar's exit status if files changed while it read them. The archive contains what was read. */
const CHANGED = 1;
/** Names come from its input, ended by zero bytes. One that has vanished meanwhile is a warning, see {@link requireOnlyVanished}. */
const NAMED = ['--ignore-failed-read', '--no-recursion', '--null', '--verbatim-files-from', '--files-from=-'];

/**
 * A tar process that writes all files of a website, or those that its input names. It runs as the install in its sandbox, so it can read only
 * what the install can, whatever links appear in the meantime.
 */
export async function packWebsite(
  layout: LinuxLayout,
  install: SandboxedInstall,
  selection: 'all' | 'named',
): Promise<RunningProgram> {
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
        // The same order every day, so that unchanged data is stored once.
        '--sort=name',
        '--sparse',
        '--numeric-owner',
        '--owner=0',
        '--group=0',
        '--anchored',
        '--no-wildcards',
        ...excluded,
        ...(selection === 'named' ? NAMED : ['--', basename(htdocs), basename(hidden)]),
      ],
      { folder: home, terminal: true, network: false },
    ),
    { statuses: [0, CHANGED], ownSession: true },
  );
}

/** A tar process that extracts files in `folder`, which the sandbox shows, as the install. */
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
      { folder, terminal: true, network: false },
    ),
    { ownSession: true },
  );
}

/**
 * What tar and `find` print about files that changed or vanished while they read them, and about sockets, which are no data. tar fills a file that
 * became shorter with zeros; the change is in its ctime.
 */
const HARMLESS =
  /: (?:No such file or directory|file changed as we read it|File removed before we read it|File shrank by \d+ bytes?; padding with zeros|socket ignored)$/;
/** The error output of a program is cut at this length, so a longer one may lack lines. */
const MOST_WARNINGS = 60_000;

/** Throws a {@link CommandError} if tar or `find` missed anything for another reason than that it vanished, such as an unreadable disk. */
export function requireOnlyVanished(stderr: string): void {
  const lines = stderr.split('\n').filter((line) => line !== '');
  if (lines.every((line) => HARMLESS.test(line)) && stderr.length < MOST_WARNINGS) return;
  throw new CommandError('files of a website could not be read', { status: null, stdout: '', stderr });
}

/** A sentence for errors of tar that the owner can fix; otherwise the error itself. */
export function explainPacking(error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  const found =
    /(?:tar: (.+?): (?:Warning: )?Cannot (?:open|read|stat|readlink|savedir|opendir)|find: ‘(.+?)’): Permission denied/.exec(
      error.stderr,
    );
  if (found === null) return error;
  return new PermanentHostError(
    `"${found[1] ?? found[2]}" cannot be read. Give its owner read permission, or delete it.`,
    { cause: error },
  );
}
