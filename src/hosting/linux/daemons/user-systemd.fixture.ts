import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../../lib/error-code.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';

/** A separate systemd for tests, whatever runs the machine. */
export interface UserSystemd {
  unitFolder: string;
  /** Its `systemctl`. */
  systemctl: string;
  end(): Promise<void>;
}

const SYSTEMD = '/lib/systemd/systemd';

/** Where systemd keeps its groups on a machine with version 1 controllers. */
const HIERARCHIES = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup/systemd'].filter((folder) =>
  existsSync(folder),
);

export const hasUserSystemd = existsSync(SYSTEMD) && existsSync('/usr/bin/systemctl');

/**
 * A systemd user instance: real, except that it is not the first process. It only starts if the machine seems to run systemd,
 * so it sees a private `/run/systemd`. At its start and end it removes every empty group below its own, even those of other
 * tests, so it gets separate groups.
 */
export async function startUserSystemd(): Promise<UserSystemd> {
  const folder = await mkdtemp('/run/hpt-systemd-');
  const unitFolder = join(folder, 'systemd/user');
  await mkdir(unitFolder, { recursive: true });
  const systemctl = join(folder, 'systemctl');
  await writeFile(systemctl, `#!/bin/sh\nXDG_RUNTIME_DIR=${folder} exec /usr/bin/systemctl --user "$@"\n`);
  await chmod(systemctl, 0o755);
  const log = await open(join(folder, 'log'), 'w');
  const groups = HIERARCHIES.map((hierarchy) => join(hierarchy, basename(folder)));
  for (const group of groups) await mkdir(group);
  const enter = groups.map((group) => `echo $$ > ${group}/cgroup.procs && `).join('');
  const prepared = `${enter}mount -t tmpfs tmpfs /run/systemd && mkdir /run/systemd/system && exec ${SYSTEMD} --user --unit=basic.target`;
  const systemd = spawn('/usr/bin/unshare', ['--mount', '/bin/sh', '-c', prepared], {
    env: { XDG_RUNTIME_DIR: folder, HOME: folder, PATH: '/usr/bin:/bin' },
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  await untilAnswering(systemctl);
  return {
    unitFolder,
    systemctl,
    async end() {
      await ended(systemd);
      for (const group of groups) await removeGroup(group);
      await rm(folder, { recursive: true });
    },
  };
}

async function untilAnswering(systemctl: string): Promise<void> {
  for (let tried = 0; tried < 600; tried++) {
    try {
      await runCommand(systemctl, ['show', '--property=Version']);
      return;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      await pause(50);
    }
  }
  throw new Error('systemd does not answer');
}

async function ended(process: ChildProcess): Promise<void> {
  const exit = new Promise((resolve) => process.once('exit', resolve));
  process.kill('SIGTERM');
  await exit;
}

/** A group is removed by removing its subgroups, deepest first; its files go with it. */
async function removeGroup(group: string): Promise<void> {
  const below = await readdir(group, { withFileTypes: true });
  for (const each of below) if (each.isDirectory()) await removeGroup(join(group, each.name));
  // The kernel allows this only a moment after the last process is gone.
  for (let tried = 0; tried < 250; tried++) {
    try {
      return await rmdir(group);
    } catch (error) {
      if (!hasCode(error, 'EBUSY')) throw error;
      await pause(20);
    }
  }
  throw new Error(`${group} still has processes in it`);
}
