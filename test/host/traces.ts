import { readdir } from 'node:fs/promises';
import { createCgroups } from '../../src/hosting/linux/daemons/cgroups.ts';
import { createDatabases } from '../../src/hosting/linux/daemons/databases.ts';
import { createUnixUsers } from '../../src/hosting/linux/isolation/unix-users.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { silent } from '../database.ts';
import type { TestMachine } from './machine.ts';

/** Everything on a machine that belongs to installs, as the machine itself reports it: names of things, sorted. */
export async function tracesOf({ config, instance, folder, runFolder }: TestMachine): Promise<string[]> {
  const layout = linuxLayout(folder, runFolder);
  const below = async (path: string) => {
    const names = await readdir(path).catch(() => []);
    return names.map((name) => `${path.replace(folder, '').replace(runFolder, '/run')}/${name}`);
  };
  const users = await createUnixUsers({ instance, uids: config.hostUids }).list();
  const databases = await createDatabases({ layout }).list();
  const cgroups = await createCgroups({ instance, log: silent }).list();
  const ofInstalls = /^(php|redis|install)-/;
  return [
    ...users.map(({ name }) => `user ${name}`),
    ...databases.map((name) => `database ${name}`),
    ...cgroups.filter((name) => ofInstalls.test(name)).map((name) => `cgroup ${name}`),
    ...(await below(layout.installs)),
    ...(await below(layout.records)),
    ...(await below(layout.journals)),
    ...(await below(layout.backups)),
    ...(await below(layout.scratch)),
    ...(await below(`${runFolder}/installs`)),
    ...(await below(`${runFolder}/daemons`)).filter((name) => ofInstalls.test(name.split('/').at(-1) ?? '')),
    ...(await processesOf(config.hostUids)),
  ].sort();
}

/**
 * Lists what has appeared since. Excludes the processes of earlier websites, because their scheduled tasks run at any time.
 */
export function addedTo(before: readonly string[], now: readonly string[]): string[] {
  const userOf = (trace: string) => /^process of \d+/.exec(trace)?.[0];
  const users = new Set(before.map(userOf));
  const known = new Set(before);
  return now.filter((trace) => {
    const user = userOf(trace);
    return user === undefined ? !known.has(trace) : !users.has(user);
  });
}

/** Processes of all installs' users, except those that have ended but whose parent has not noticed. */
async function processesOf({ first, last }: { first: number; last: number }): Promise<string[]> {
  const { stdout } = await runCommand('/bin/ps', ['-eo', 'uid=,stat=,args=']);
  return (
    stdout
      .split('\n')
      .map((line) => /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line))
      .filter((found) => found !== null)
      .filter(([, uid, state = '']) => Number(uid) >= first && Number(uid) <= last && !state.startsWith('Z'))
      // The beginning is enough: a sandbox has a long command line.
      .map(([, uid, , command = '']) => `process of ${uid}: ${command.slice(0, 60)}`)
  );
}
