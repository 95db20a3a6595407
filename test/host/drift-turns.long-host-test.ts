import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { RESTORE_CHECK_PREFIX } from '../../src/features/websites/installs/reserved-names.ts';
import type { Difference } from '../../src/hosting/contract/host.ts';
import { withFileLock } from '../../src/hosting/linux/isolation/file-lock.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { visit } from '../edge.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { plainState } from './state.ts';

/** Inspections of a host that creates and removes installs at the same time. */
let machine: TestMachine;
let running: RunningMachine;
/** Called after each provisioning step. */
let reached: () => void = () => {};

beforeAll(async () => {
  machine = await createPreparedMachine();
  running = await machine.start({ reached: () => reached() });
});
afterAll(() => machine?.remove());

/** Status of the home page, bypassing the page cache. */
async function pageStatus(hostname: string): Promise<number> {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const address = `http://${hostname}/?${crypto.randomUUID()}`;
  return (await visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, address)).status;
}

test('inspection leaves an install alone while it is created, from the first step to the last', async () => {
  const made = plainState('just-now');
  const inspections: Promise<Difference[]>[] = [];
  const inspect = () => void inspections.push(running.host.inspect([made], true));
  reached = inspect;
  const applied = running.host.apply(made);
  inspect();
  await applied;
  reached = () => {};
  expect(inspections.length).toBeGreaterThan(8);
  // Early inspections may have skipped the locked install.
  const found = (await Promise.all(inspections))
    .flat()
    .filter(({ message }) => !/locked by other work/.test(message));
  expect(found).toEqual([]);
  expect(await pageStatus(made.primaryHostname)).toBe(200);
  expect(await running.host.inspect([made], false)).toEqual([]);
  await running.host.remove(made);
});

test('inspection leaves an install alone while it is removed', async () => {
  const gone = plainState('just-gone');
  await running.host.apply(gone);
  const inspections: Promise<Difference[]>[] = [];
  const removed = running.host.remove(gone);
  for (let look = 0; look < 4; look++) {
    inspections.push(running.host.inspect([], true));
    await pause(50);
  }
  await removed;
  const found = (await Promise.all(inspections))
    .flat()
    .filter(({ message }) => !/locked by other work/.test(message));
  expect(found).toEqual([]);
});

test('an install locked for long is reported as skipped, not as missing', async () => {
  const made = plainState('taking-long');
  let applied: Promise<unknown> = Promise.resolve();
  await withFileLock('/var/lib/extrausers/.homeport.lock', async () => {
    applied = running.host.apply(made);
    expect(await running.host.inspect([made], true)).toEqual([
      {
        thing: 'install taking-long',
        message: expect.stringMatching(/locked by other work/),
        mended: null,
        remedy: null,
      },
    ]);
  });
  await applied;
  await running.host.remove(made);
});

test('inspection leaves the copy of a trial restore alone', async () => {
  const copy = plainState(`${RESTORE_CHECK_PREFIX}0a1b2c3d`);
  await running.host.apply(copy);
  expect(await running.host.inspect([], true)).toEqual([]);
  await running.host.remove(copy);
});

test('a repair removes the remains of interrupted provisioning', async () => {
  const layout = linuxLayout(machine.folder, machine.runFolder);
  const id = crypto.randomUUID();
  await writeFile(layout.journalOf(id), JSON.stringify({ id, name: 'ghost', database: 'hp_ghost' }));
  await mkdir(layout.homeOf(id));
  const ghost = { thing: 'install ghost', message: expect.stringMatching(/was interrupted/) };
  expect(await running.host.inspect([], false)).toEqual([expect.objectContaining(ghost)]);
  expect(await running.host.inspect([], true)).toEqual([{ ...ghost, mended: true, remedy: null }]);
  expect(await running.host.inspect([], false)).toEqual([]);
  await expect(stat(layout.homeOf(id))).rejects.toThrow('ENOENT');
});

test('after failed and undone provisioning, only the missing install is reported', async () => {
  const failed = plainState('failed');
  const end = new AbortController();
  reached = () => end.abort();
  await expect(running.host.apply(failed, end.signal)).rejects.toThrow('aborted');
  reached = () => {};
  expect(await running.host.inspect([], true)).toEqual([]);
  expect(await running.host.inspect([failed], true)).toEqual([
    expect.objectContaining({ thing: 'install failed', message: expect.stringMatching(/is missing/) }),
  ]);
});

test('an install that lost its record keeps everything else', async () => {
  const layout = linuxLayout(machine.folder, machine.runFolder);
  const known = plainState('without-record');
  await running.host.apply(known);
  const record = await readFile(layout.recordOf(known.id));
  await rm(layout.recordOf(known.id));
  expect(await running.host.inspect([known], true)).toEqual([
    expect.objectContaining({ thing: 'install without-record', mended: false }),
  ]);
  expect(await pageStatus(known.primaryHostname)).toBe(200);
  await writeFile(layout.recordOf(known.id), record);
  expect(await running.host.inspect([known], true)).toEqual([]);
  await running.host.remove(known);
});
