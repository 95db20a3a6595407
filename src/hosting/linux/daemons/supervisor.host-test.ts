import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { type DaemonsMachine, startDaemonsMachine } from './daemons-machine.fixture.ts';
import { startTimeOf } from './process-records.ts';

let machine: DaemonsMachine;

beforeAll(async () => {
  machine = await startDaemonsMachine();
});

afterAll(() => machine.stop());

/** Leaves its process group and its session, as sandboxes do. */
const ESCAPES = 'setsid sleep 600 & echo $$ > $FOLDER/main; echo $! > $FOLDER/child; exec sleep 600';

const spec = (name: string, text: string) => ({
  name,
  description: 'Script of the test',
  command: ['/bin/sh', '-c', text] as const,
  environment: { FOLDER: machine.layout.runFolder },
  ready: async () => void (await pidIn('child')),
});

async function pidIn(name: string): Promise<number> {
  const pid = Number(await readFile(join(machine.layout.runFolder, name), 'utf8'));
  if ((await startTimeOf(pid)) === null) throw new Error(`${name} does not run`);
  return pid;
}

test('kills processes that left the daemon’s process group', async () => {
  await machine.daemons.ensure(spec('escapes', ESCAPES));
  const child = await pidIn('child');
  await machine.daemons.remove('escapes');
  expect(await startTimeOf(child)).toBeNull();
});

/** A separate host that supervises one daemon, to be killed. */
async function startHost(): Promise<ChildProcess> {
  const { layout, instance } = machine;
  const program = `
    import { pino } from 'pino';
    import { systemClock } from '${new URL('../../../lib/clock.ts', import.meta.url)}';
    import { createCgroups } from '${new URL('./cgroups.ts', import.meta.url)}';
    import { createSupervisor } from '${new URL('./supervisor.ts', import.meta.url)}';
    const log = pino({ level: 'silent' });
    const cgroups = createCgroups({ instance: '${instance}', log });
    const daemons = createSupervisor({ runFolder: '${layout.runFolder}', cgroups, log, clock: systemClock });
    await daemons.ensure({
      name: 'orphan', description: 'Orphan', command: ['/bin/sh', '-c', ${JSON.stringify(ESCAPES)}],
      environment: { FOLDER: '${layout.runFolder}' }, ready: async () => {},
    });
    console.log('ready');`;
  const host = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(host.stdout ?? host, 'data');
  return host;
}

test('ends what a killed host left behind', async () => {
  const host = await startHost();
  for (let tried = 0; tried < 1_500; tried++) {
    const there = await pidIn('child').catch(() => null);
    if (there !== null) break;
    await pause(20);
  }
  const [main, child] = [await pidIn('main'), await pidIn('child')];
  host.kill('SIGKILL');
  await once(host, 'exit');
  expect(await startTimeOf(main)).not.toBeNull();
  expect(await machine.cgroups.list()).toContain('orphan');
  await machine.supervise().start();
  expect([await startTimeOf(main), await startTimeOf(child)]).toEqual([null, null]);
  expect(await machine.cgroups.list()).not.toContain('orphan');
});

test('restarts a daemon that exceeds its memory limit, with the same limits', async () => {
  const hog =
    'echo $$ > $FOLDER/child; test -e $FOLDER/hogged && exec sleep 600; : > $FOLDER/hogged; sleep 0.3; exec perl -e \'my $x = "x" x 200_000_000; sleep 600\'';
  await machine.daemons.ensure({
    ...spec('hog', hog),
    limits: { memoryMb: 32, cpuPercent: 100, processes: 8 },
  });
  const first = await pidIn('child');
  let now = first;
  for (let tried = 0; tried < 1200 && now === first; tried++) {
    await pause(25);
    now = await pidIn('child').catch(() => first);
  }
  expect(now).not.toBe(first);
  expect((await machine.cgroups.usage('hog'))?.memoryBytes).toBeLessThan(32 * 1024 * 1024);
  const { stdout } = await runCommand('cat', [`/proc/${now}/cgroup`]);
  expect(stdout).toContain(`/homeport-${machine.instance}/hog\n`);
});
