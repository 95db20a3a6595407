import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { pino } from 'pino';
import { hostsFolder } from '../../../../test/memory-folder.ts';
import { drawOwn } from '../../../../test/servers/draw-own.ts';
import { systemClock } from '../../../lib/clock.ts';
import { makeHome } from '../isolation/folders.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import { createUnixUsers, enableExtrausers } from '../isolation/unix-users.ts';
import { linuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes } from '../machine/php-runtimes.ts';
import { createCgroups } from './cgroups.ts';
import { createSupervisor } from './supervisor.ts';

export type DaemonsMachine = Awaited<ReturnType<typeof startDaemonsMachine>>;

const FIRST_UID = 1_500_000;

/** A test's own folders, users and supervised daemons. */
export async function startDaemonsMachine() {
  const word = randomBytes(4).toString('hex');
  const instance = `d${word}`;
  const layout = linuxLayout(`${hostsFolder()}/hpt-${word}`, `/run/hpt-${word}`);
  for (const folder of [layout.folder, layout.runFolder]) await mkdir(folder, { mode: 0o711 });
  await enableExtrausers();
  const log = pino({ level: 'silent' });
  const first = FIRST_UID + drawOwn(0, 5_000) * 20;
  const users = createUnixUsers({ instance, uids: { first, last: first + 19 } });
  const cgroups = createCgroups({ instance, log });
  const supervise = () => createSupervisor({ runFolder: layout.runFolder, cgroups, log, clock: systemClock });
  const daemons = supervise();
  const [php] = await findPhpRuntimes(layout);
  if (php === undefined) throw new Error('this machine has no PHP-FPM');
  const made: string[] = [];

  /** A Unix user with the longest name, 40 characters. */
  async function newUser(kind: string): Promise<{ id: string; name: string; uid: number; gid: number }> {
    const id = randomUUID();
    const name = `${kind}-${id.replaceAll('-', '')}`.padEnd(40, 'x').slice(0, 40);
    const ids = await users.ensure({ installId: id, name, home: layout.homeOf(id), shell: '/bin/sh' });
    made.push(id);
    return { id, name, ...ids };
  }

  return {
    instance,
    layout,
    log,
    cgroups,
    daemons,
    supervise,
    newUser,
    users,
    async newInstall(kind: string): Promise<SandboxedInstall> {
      const install = { ...(await newUser(kind)), php, wordpressVersion: '6.8.7' };
      await makeHome(layout, install);
      return install;
    },
    async stop(): Promise<void> {
      await daemons.stop();
      for (const name of await cgroups.list()) await cgroups.remove(name);
      for (const id of made) await users.remove(id);
      for (const folder of [layout.folder, layout.runFolder])
        await rm(folder, { recursive: true, force: true });
    },
  };
}
