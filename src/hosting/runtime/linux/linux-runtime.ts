import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { CommandError } from '../../../lib/run-command.ts';
import type { DatabaseLogin } from '../../linux/daemons/mariadb-client.ts';
import { foldersOf, type SandboxedInstall } from '../../linux/isolation/sandbox.ts';
import type { LinuxLayout } from '../../linux/machine/layout.ts';
import { ERROR_LOG } from '../../linux/php/fpm-config.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import type { Files, InstallRuntime, Programs, Records, ScriptEnd } from '../runtime.ts';
import { type PinnedFolder, pinFolder } from './pinned-folder.ts';
import { bareRun, followScript, runScript } from './run-php.ts';

/**
 * The runtime of a website in its sandbox: its Unix user, its cgroup and Debian's PHP. `enter`: command prefix that enters the cgroup.
 */
export function linuxRuntime(
  layout: LinuxLayout,
  install: SandboxedInstall,
  enter: readonly string[],
): InstallRuntime {
  return {
    ...linuxFiles(layout, install),
    async runScript({ script, network = true, take, ...given }, signal): Promise<ScriptEnd> {
      try {
        const path = phpFileOf(layout.coreOf(install.wordpressVersion), script);
        // The socket for mail is no network. Plugins take such mail for sent.
        const settings: Record<string, string> = network ? {} : { sendmail_path: '/bin/true' };
        const run = { ...given, script: path, network, settings, enter, signal };
        const ended = take ? followScript(layout, install, run, take) : runScript(layout, install, run);
        return { ...(await ended), exit: 0 };
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof CommandError)) throw error;
        return { stdout: error.stdout, stderr: error.stderr || error.message, exit: error.status };
      }
    },
  };
}

/**
 * The programs of a website on another database than its own. `login`: the only user with rights on a database that nobody vouches for;
 * with it, scripts of WordPress leave the website's `wp-content` unused.
 */
export function inDatabase({ runScript }: Programs, database: string, login?: DatabaseLogin): Programs {
  const given =
    login === undefined ? { environment: { HOMEPORT_DATABASE: database } } : bareRun(database, login);
  return { runScript: (run, signal) => runScript({ ...run, ...given }, signal) };
}

/** The files alone, which need no user and no PHP. */
export function linuxFiles(layout: LinuxLayout, install: Pick<SandboxedInstall, 'id' | 'home'>): Files {
  const folders = foldersOf(layout, install);
  return {
    async changedAt(folder, path, names) {
      const found = await pinnedAt(folder === 'root' ? folders.htdocs : folders.private, path);
      if (found === null) return names.map(() => null);
      try {
        return await Promise.all(
          names.map(async (name) => (await found.changedAt(name))?.toString() ?? null),
        );
      } finally {
        await found.close();
      }
    },
    async endOfErrorLog(bytes) {
      const found = await pinFolder(folders.private);
      try {
        return (await found.end(ERROR_LOG, bytes)) ?? '';
      } finally {
        await found.close();
      }
    },
  };
}

const LOG_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The logs, which need no user and no PHP either. */
export function linuxRecords(layout: LinuxLayout, installId: string): Records {
  return {
    logs: layout.logsOf(installId),
    async openErrorLog(which) {
      const name = which === 'present' ? ERROR_LOG : `${ERROR_LOG}.1`;
      try {
        // The folders above belong to root.
        return await open(join(layout.privateOf(installId), name), LOG_FLAGS);
      } catch (error) {
        if (hasCode(error, 'ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR', 'EISDIR')) return null;
        throw error;
      }
    },
  };
}

/** Pins a folder, or one below it, because a website can replace a folder by a link. Null if it is missing. */
async function pinnedAt(path: string, names: readonly string[]): Promise<PinnedFolder | null> {
  let folder = await pinFolder(path).catch(() => null);
  for (const name of names) {
    const outer: PinnedFolder | null = folder;
    if (outer === null) return null;
    folder = await outer.look(name).finally(() => outer.close());
  }
  return folder;
}
