import { execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { type BackupMachine, startBackupMachine } from './backups.fixture.ts';
import type { Backups } from './backups.ts';
import { createWebsiteMarks, type WebsiteMarks } from './website-marks.ts';

let machine: BackupMachine;
let backups: Backups;
let shop: HostedInstall;
let marks: WebsiteMarks;

beforeAll(async () => {
  machine = await startBackupMachine();
  backups = machine.backupsWith();
  shop = await machine.newWebsite();
  machine.put(shop, 'large.bin', randomBytes(4 * 1024 * 1024));
  const { layout, databases } = machine;
  marks = createWebsiteMarks({ layout, writes: databases.writes, clock: systemClock });
});
afterAll(() => machine?.stop());

const record = (baseId: string | null = null, keep: string[] = [], pointId: string = randomUUID()) =>
  backups.recordPoint(shop, { pointId, baseId, keep });
const isUnchanged = async (mark: string) =>
  (await marks.unchanged([{ installId: shop.ref.id, unixUser: shop.unixUser, mark }])).length > 0;
const query = (sql: string) => machine.databases.query(shop.database, sql);

/** A mark that shows no change: those within a second before it count, too. */
async function settled(): Promise<string> {
  for (;;) {
    const mark = await marks.take({ installId: shop.ref.id, unixUser: shop.unixUser });
    if (await isUnchanged(mark)) return mark;
    await sleep(100);
  }
}

test('a website that nothing changes stays unchanged, also after its own recovery points and reads', async () => {
  const mark = await settled();
  await query('SELECT * FROM notes');
  await record();
  expect(await isUnchanged(mark)).toBe(true);
});

test('every change of a file or of a row shows', async () => {
  const path = machine.inHtdocs(shop, 'page.html');
  machine.put(shop, 'page.html', 'one');
  const changes: Record<string, () => unknown> = {
    'the same size and time': () => {
      machine.put(shop, 'page.html', 'two');
      utimesSync(path, 1, 1);
    },
    'a mode': () => execFileSync('chmod', ['640', path]),
    'a name': () => renameSync(path, `${path}.old`),
    'a deletion': () => rmSync(`${path}.old`),
    'a row': () => query("INSERT INTO notes VALUES (2, 'second')"),
    'the same number of rows': () => query("UPDATE notes SET text = 'other' WHERE id = 2"),
    'a definition': () => query('ALTER TABLE notes ADD COLUMN more INT'),
    'an emptied table': () => query('TRUNCATE notes'),
  };
  const unseen: string[] = [];
  for (const [name, change] of Object.entries(changes)) {
    const mark = await settled();
    await change();
    if (await isUnchanged(mark)) unseen.push(name);
  }
  expect(unseen).toEqual([]);
});

test('a transaction that is committed after the snapshot shows, although its statements came before', async () => {
  await settled();
  const login = ['-u', shop.unixUser, '--', 'mariadb', '--no-defaults', '-n'];
  const client = spawn('runuser', [...login, `--socket=${machine.layout.mariadbSocket}`, shop.database]);
  const ended = once(client, 'exit');
  client.stdin.write("BEGIN; INSERT INTO notes (id, text) VALUES (9, 'late'); SELECT 'written';\n");
  await once(client.stdout, 'data');
  const { mark } = await record();
  client.stdin.end('COMMIT;\n');
  expect((await ended)[0]).toBe(0);
  expect(await isUnchanged(mark)).toBe(false);
  await settled();
});

test('a later recovery point has what changed, and is restored with its base', async () => {
  machine.put(shop, 'edited.txt', 'before');
  machine.put(shop, 'deleted.txt', 'before');
  // What changed within two seconds before a listing is copied again.
  while (Date.now() - statSync(machine.inHtdocs(shop, 'large.bin')).ctimeMs < 2_500) await sleep(100);
  const base = randomUUID();
  const whole = await record(null, [], base);
  expect(whole.baseId).toBeNull();
  machine.put(shop, 'edited.txt', 'after');
  machine.put(shop, 'upload.txt', 'between two backups');
  rmSync(machine.inHtdocs(shop, 'deleted.txt'));
  await query("REPLACE INTO notes (id, text) VALUES (5, 'between')");
  const [files, notes] = [machine.filesOf(shop), await machine.notesOf(shop)];
  const point = randomUUID();
  const made = await record(base, [base], point);
  expect(made.baseId).toBe(base);
  expect(made.snapshot.bytes).toBeLessThan(whole.snapshot.bytes / 2);
  // A backup in between, and everything is lost.
  await backups.snapshot(shop, randomUUID());
  rmSync(machine.inHtdocs(shop, 'upload.txt'));
  rmSync(machine.inHtdocs(shop, 'large.bin'));
  await query('DELETE FROM notes');
  await expect(backups.restore(shop, point, { from: shop.ref })).rejects.toThrow('another backup');
  expect(await backups.restore(shop, point, { from: shop.ref, base })).toEqual(made.snapshot);
  expect(machine.filesOf(shop)).toBe(files);
  expect(await machine.notesOf(shop)).toEqual(notes);
  expect(await machine.leftoversOf(shop)).toEqual([]);
});

test('a host that was started again makes a whole recovery point', async () => {
  const base = randomUUID();
  await record(null, [], base);
  for (const name of readdirSync(machine.layout.scratch)) rmSync(join(machine.layout.scratch, name));
  expect((await record(base, [base])).baseId).toBeNull();
});

test('a point is based on nothing that is gone from the place of the backups', async () => {
  const base = randomUUID();
  await record(null, [], base);
  await backups.discard(shop.ref, base);
  machine.put(shop, 'page.html', 'more');
  expect((await record(base, [base])).baseId).toBeNull();
});

test('former recovery points are deleted, and never a backup', async () => {
  const backup = randomUUID();
  await backups.snapshot(shop, backup);
  const [base, former, newest] = [randomUUID(), randomUUID(), randomUUID()];
  await record(null, [], base);
  await record(base, [base], former);
  await record(base, [base], newest);
  expect(await backups.held(shop.ref)).toEqual(expect.arrayContaining([backup, base, newest]));
  expect(await backups.held(shop.ref)).not.toContain(former);
  // Nothing is kept, and what is listed of a restored platform may be nothing.
  await record();
  const held = await backups.held(shop.ref);
  expect(held).toContain(backup);
  expect(held).not.toContain(newest);
  await backups.restore(shop, backup, { from: shop.ref });
});
