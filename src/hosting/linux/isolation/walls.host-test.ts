import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LinuxLayout, linuxLayout } from '../machine/layout.ts';
import { createWalls } from './walls.ts';

let layout: LinuxLayout;
const children: ChildProcess[] = [];

beforeEach(async () => {
  layout = linuxLayout(await mkdtemp('/srv/hpt-walls-'), await mkdtemp('/run/hpt-walls-'));
  for (const folder of [layout.folder, layout.runFolder]) await chmod(folder, 0o711);
});
afterEach(async () => {
  for (const { pid } of children.splice(0)) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  for (const folder of [layout.folder, layout.runFolder]) await rm(folder, { recursive: true, force: true });
});

/** Runs as a user that nothing else has, and says so. `code`: perl. */
async function runAs(uid: number, code: string): Promise<number> {
  const child = spawn('/usr/bin/perl', ['-e', `$| = 1; ${code}`, `${uid}`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}

const AS_USER = '$> = $< = $ARGV[0]; print "ready"; sleep 600;';

test('tries the sandbox and the users of processes', async () => {
  // A main process of root with a worker, as nginx has.
  const main = await runAs(391_530, `if (!fork) { ${AS_USER} } wait;`);
  const daemons = {
    list: async () => [
      { name: 'nginx', state: 'running' as const, pid: main, restarts: 0, memoryBytes: null },
    ],
  };
  let reason: string | null = null;
  const walls = createWalls({ layout, daemons, databaseShares: { check: () => reason } });
  expect(walls.measured()).toEqual([]);
  await walls.measure();
  const names = ['network', 'system calls', 'user of the web server', 'busy database connections'];
  expect(walls.measured()).toEqual(names.map((name) => ({ name, weakness: null, remedy: null })));

  const other = await runAs(391_530, AS_USER);
  reason = 'it has no group';
  await walls.measure();
  expect(walls.measured().map(({ weakness }) => weakness)).toEqual([
    null,
    null,
    `Other programs run as its user, and reach the files and the PHP of all websites: process ${other}.`,
    'Busy connections do not wait for those of other websites: it has no group',
  ]);
});
