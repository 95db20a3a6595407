import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { mountSmallDisk } from '../../../../test/servers/small-disk.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { type BackupMachine, startBackupMachine } from './backups.fixture.ts';
import type { Backups } from './backups.ts';

let machine: BackupMachine;
let backups: Backups;
let shop: HostedInstall;

beforeAll(async () => {
  machine = await startBackupMachine();
  backups = machine.backupsWith();
});
afterAll(() => machine?.stop());

async function newShop(): Promise<void> {
  shop = await machine.newWebsite();
  await query('CREATE TABLE payments (id INT PRIMARY KEY, text VARCHAR(100))');
}

const query = (sql: string) => machine.databases.query(shop.database, sql);
const ids = async (table: string) => (await query(`SELECT id FROM ${table} ORDER BY id`)).flat();

async function record(
  from: Backups,
  base: string | null,
  kept: string[] = [],
): Promise<{ id: string; base: string | null }> {
  const id = randomUUID();
  const keep = base === null ? kept : [base, ...kept];
  return { id, base: (await from.recordPoint(shop, { pointId: id, baseId: base, keep })).baseId };
}

const restore = ({ id, base }: { id: string; base: string | null }) =>
  backups.restore(shop, id, { from: shop.ref, base: base ?? undefined });

/** Programs of this process by their names. */
function children(name: string): number[] {
  const all = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ');
  return all.filter((pid) => pid !== '' && nameOf(pid) === name).map(Number);
}

function nameOf(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return null;
  }
}

test('a point that is made while visitors write is one moment of the database, and has whole files', async () => {
  await newShop();
  const first = await record(backups, null);
  let isOver = false;
  let written = 1;
  const writing = (async () => {
    for (; !isOver; written++) {
      await query(
        `START TRANSACTION; INSERT INTO notes VALUES (${written + 1}, 'x'); INSERT INTO payments VALUES (${written + 1}, 'x'); COMMIT`,
      );
      machine.put(shop, `order-${written}.txt`, `order ${written}`);
    }
  })();
  const points = [];
  for (let round = 0; round < 5; round++) points.push(await record(backups, first.id));
  isOver = true;
  await writing;
  expect(written).toBeGreaterThan(5);
  const newest = points.at(-1);
  if (newest === undefined) throw new Error('no point');
  expect(newest.base).toBe(first.id);
  // What is written after the last point is in the next one.
  const last = await record(backups, first.id, [newest.id]);
  await restore(newest);
  expect((await ids('notes')).slice(1)).toEqual(await ids('payments'));
  await restore(last);
  expect((await ids('payments')).length).toBe(written - 1);
  for (let number = 1; number < written; number++) {
    const path = machine.inHtdocs(shop, `order-${number}.txt`);
    expect(readFileSync(path, 'utf8')).toBe(`order ${number}`);
  }
});

test.each(['restic', 'mariadb-dump', 'bwrap'])(
  'a point whose %s is killed fails, and the next one works',
  async (program) => {
    await newShop();
    machine.put(shop, 'large.bin', randomBytes(64 * 1024 * 1024));
    const backup = randomUUID();
    await backups.snapshot(shop, backup);
    const { id: base } = await record(backups, null);
    machine.put(shop, 'large.bin', randomBytes(64 * 1024 * 1024));
    const making = record(backups, base);
    let isEnded = false;
    const ended = making.then(
      () => {
        isEnded = true;
      },
      () => {
        isEnded = true;
      },
    );
    let killed = 0;
    while (!isEnded) {
      for (const pid of children(program)) {
        process.kill(pid, 'SIGKILL');
        killed += 1;
      }
      await sleep(1);
    }
    await ended;
    expect(killed).toBeGreaterThan(0);
    await expect(making).rejects.toThrow();
    expect(await machine.leftoversOf(shop)).toEqual([]);
    const files = machine.filesOf(shop);
    const next = await record(backups, base);
    rmSync(machine.inHtdocs(shop, 'large.bin'));
    await restore(next);
    expect(machine.filesOf(shop)).toBe(files);
    // The daily backup is as it was, and can be made.
    await backups.snapshot(shop, randomUUID());
    await backups.restore(shop, backup, { from: shop.ref });
  },
);

test('a full place fails points with a reason, and leaves backups and earlier points', async () => {
  const disk = await mountSmallDisk();
  onTestFinished(() => disk.remove());
  await newShop();
  const place = join(disk.path, 'backups');
  const on = machine.backupsWith({
    layout: { ...machine.layout, backups: place, backupPlaces: `${place}.json` },
  });
  const backup = randomUUID();
  await on.snapshot(shop, backup);
  const first = await record(on, null);
  await disk.leave(100_000);
  machine.put(shop, 'large.bin', randomBytes(1024 * 1024));
  await expect(record(on, first.id)).rejects.toThrow(/no space left/);
  await disk.makeRoom();
  const files = machine.filesOf(shop);
  const next = await record(on, first.id);
  rmSync(machine.inHtdocs(shop, 'large.bin'));
  await on.restore(shop, next.id, { from: shop.ref, base: first.id });
  expect(machine.filesOf(shop)).toBe(files);
  await on.restore(shop, backup, { from: shop.ref });
});

test('a place that is away fails points with a reason, and they go on with their base when it is back', async () => {
  await newShop();
  const place = machine.layout.backups;
  await backups.snapshot(shop, randomUUID());
  const first = await record(backups, null);
  renameSync(place, `${place}.away`);
  try {
    await expect(record(backups, first.id)).rejects.toThrow('The place of the backups is not available.');
  } finally {
    rmSync(place, { recursive: true, force: true });
    renameSync(`${place}.away`, place);
  }
  expect((await record(backups, first.id)).base).toBe(first.id);
});
