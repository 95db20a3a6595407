import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askFastcgi } from '../../../lib/fastcgi.ts';
import type { PhpSettings } from '../../../lib/php-limits.ts';
import { type DaemonsMachine, startDaemonsMachine } from '../daemons/daemons-machine.fixture.ts';
import { makeHome } from '../isolation/folders.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import { drainPhp, endRequests, fpmSpec, writeFpmFiles } from './fpm.ts';
import { standardPhp } from './fpm-config.ts';
import { hasStaleHome } from './stale-home.ts';

const limits = { memoryMb: 256, cpuPercent: 100, processes: 64 };
/** As many waiting requests as visitors; PHP takes two. */
const VISITORS = 12;

let machine: DaemonsMachine;

beforeAll(async () => {
  machine = await startDaemonsMachine();
  await mkdir(machine.layout.coreOf('6.8.7'), { recursive: true });
  await mkdir(machine.layout.coreOf('6.8.8'), { recursive: true });
  await mkdir(machine.layout.mariadbRun);
});

afterAll(() => machine.stop());

async function start(install: SandboxedInstall, change: Partial<PhpSettings> = {}): Promise<void> {
  const { layout, daemons } = machine;
  const options = { layout, install, limits, php: { ...standardPhp(limits), workers: 2, ...change } };
  await writeFpmFiles(options);
  await daemons.ensure(fpmSpec(options));
}

const request = (script: string) => ({
  REQUEST_METHOD: 'GET',
  SCRIPT_NAME: '/slow.php',
  SCRIPT_FILENAME: script,
});

/** The answer to a request, or why there is none. */
async function visit(socket: string, script: string): Promise<string> {
  return askFastcgi(socket, request(script), { timeoutMs: 60_000 }).then(
    ({ status, body }) => `${status} ${body}`,
    (error: Error) => error.message,
  );
}

/** Requests a page from many sides without a pause, until the result is called. That returns all answers. */
function visitAllTheTime(socket: string, script: string): () => Promise<string[]> {
  const answers: string[] = [];
  let isOver = false;
  const visitors = Array.from({ length: VISITORS }, async () => {
    while (!isOver) answers.push(await visit(socket, script));
  });
  return async () => {
    isOver = true;
    await Promise.all(visitors);
    return answers;
  };
}

async function busyInstall(): Promise<{ install: SandboxedInstall; socket: string; script: string }> {
  const install = await machine.newInstall('busy');
  const script = join(machine.layout.htdocsOf(install.id), 'slow.php');
  await writeFile(script, '<?php usleep(50000); echo "whole";');
  await start(install);
  return { install, socket: machine.layout.phpSocketOf(install.id), script };
}

it('fails no request when PHP starts again, whatever is changed', async () => {
  const { daemons } = machine;
  const { install, socket, script } = await busyInstall();
  const [{ pid: main } = { pid: null }] = await daemons.list();
  const end = visitAllTheTime(socket, script);
  for (let time = 0; time < 3; time += 1) {
    await pause(150);
    await daemons.restart(`php-${install.id}`);
  }
  await pause(150);
  await start(install, { workers: 3 });
  await pause(150);
  await start({ ...install, wordpressVersion: '6.8.8' });
  const answers = await end();
  expect(new Set(answers)).toEqual(new Set(['200 whole']));
  expect(answers.length).toBeGreaterThan(VISITORS);
  // It kept its socket instead of making another one.
  expect((await daemons.list()).map(({ pid }) => pid)).toEqual([main]);
  await daemons.remove(`php-${install.id}`);
});

it('answers what waits at its socket before it is removed', async () => {
  const { install, socket, script } = await busyInstall();
  const waiting = Array.from({ length: VISITORS }, () => visit(socket, script));
  // Connections are made in order, so this one comes after them.
  await drainPhp(socket);
  await machine.daemons.remove(`php-${install.id}`);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['200 whole']));
  // Nothing listens any more.
  expect(await drainPhp(socket)).toBe(true);
});

it('is removed even if no more requests can wait at its socket', async () => {
  const { install, socket } = await busyInstall();
  const { daemons, layout } = machine;
  const hanging = join(layout.htdocsOf(install.id), 'hanging.php');
  await writeFile(hanging, '<?php sleep(600);');
  // Both workers, and then the queue of listen(2).
  const refused = new Promise((resolve) => {
    const fill = () => {
      const connection = connect(socket, fill);
      connection.on('error', resolve);
      visitors.push(connection);
    };
    const visitors: ReturnType<typeof connect>[] = [];
    for (let worker = 0; worker < 2; worker += 1) void visit(socket, hanging);
    fill();
  });
  expect(await refused).toMatchObject({ code: 'EAGAIN' });
  expect(await drainPhp(socket)).toBe(false);
  await daemons.remove(`php-${install.id}`);
});

it('lets no request work any more that has come before', async () => {
  const { install, socket } = await busyInstall();
  const { daemons, layout } = machine;
  const script = join(layout.htdocsOf(install.id), 'writes.php');
  const written = join(layout.htdocsOf(install.id), 'written');
  await writeFile(script, `<?php usleep(1500000); file_put_contents('${written}', 'x', FILE_APPEND);`);
  const php = { name: `php-${install.id}`, socket, start: () => start(install) };
  for (const drainWithinMs of [10_000, 100]) {
    // Two work and the others wait.
    const visits = [1, 2, 3, 4].map(() => visit(socket, script));
    await pause(100);
    await endRequests(daemons, php, drainWithinMs);
    const before = (await readFile(written)).length;
    await Promise.all(visits);
    expect((await readFile(written)).length).toBe(before);
  }
  await daemons.remove(`php-${install.id}`);
});

it('knows whether it shows a home that was moved away', async () => {
  const { daemons, layout } = machine;
  const { install } = await busyInstall();
  const home = layout.homeOf(install.id);
  const pid = (await daemons.list()).at(0)?.pid ?? 0;
  expect(await hasStaleHome(pid, home)).toBe(false);
  await rename(home, `${home}-before`);
  await makeHome(layout, install);
  expect(await hasStaleHome(pid, home)).toBe(true);
  await daemons.restart(`php-${install.id}`);
  expect(await hasStaleHome(pid, home)).toBe(false);
  await daemons.remove(`php-${install.id}`);
});
