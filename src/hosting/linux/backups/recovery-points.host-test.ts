import { execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onlyInLong } from '../../../../test/rounds.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { type BackupMachine, startBackupMachine } from './backups.fixture.ts';
import type { Backups } from './backups.ts';
import { createNotedListings } from './noted-listings.ts';
import { createWebsiteMarks, type WebsiteMarks } from './website-marks.ts';

let machine: BackupMachine;
let backups: Backups;
let shop: HostedInstall;
let marks: WebsiteMarks;
/** Marks without files, whose changes within a second before a mark show, too. */
let rows: WebsiteMarks;
let empty: string;

beforeAll(async () => {
  machine = await startBackupMachine();
  backups = machine.backupsWith();
  shop = await machine.newWebsite();
  machine.put(shop, 'large.bin', randomBytes(4 * 1024 * 1024));
  machine.put(shop, 'page.html', 'one');
  const { layout, databases } = machine;
  marks = createWebsiteMarks({ layout, writes: databases.writes, clock: systemClock });
  empty = mkdtempSync(join(tmpdir(), 'homeport-empty-'));
  const later = { now: () => new Date(systemClock.now().getTime() + 10_000) };
  rows = createWebsiteMarks({
    ...{ layout: { htdocsOf: () => empty, privateOf: () => empty }, writes: databases.writes, clock: later },
  });
});
afterAll(async () => {
  await machine?.stop();
  if (empty !== undefined) rmSync(empty, { recursive: true });
});

const record = (baseId: string | null = null, keep: string[] = [], pointId: string = randomUUID()) =>
  backups.recordPoint(shop, { pointId, baseId, keep });
const isUnchanged = async (mark: string) => (await marks.unchanged([{ ...website(), mark }])).length > 0;
const website = () => ({ installId: shop.ref.id, unixUser: shop.unixUser });
const query = (sql: string) => machine.databases.query(shop.database, sql);

/** A mark that shows no change: those within a second before it count, too. */
async function settled(): Promise<string> {
  for (;;) {
    const mark = await marks.take(website());
    if (await isUnchanged(mark)) return mark;
    await sleep(100);
  }
}

/** Waits until no point copies most of the files again, as it does with what changed within two seconds before the listing of its base. */
async function untilLargeIsSettled(): Promise<void> {
  while (Date.now() - statSync(machine.inHtdocs(shop, 'large.bin')).ctimeMs < 2_500) await sleep(100);
}

test('a website that nothing changes stays unchanged, also after its own recovery points and reads', async () => {
  const mark = await settled();
  await query('SELECT * FROM notes');
  await record();
  expect(await isUnchanged(mark)).toBe(true);
});

test.each<[string, () => unknown]>([
  [
    'a file of the same size and time',
    () => {
      machine.put(shop, 'page.html', 'two');
      utimesSync(machine.inHtdocs(shop, 'page.html'), 1, 1);
    },
  ],
  ['a mode', () => execFileSync('chmod', ['640', machine.inHtdocs(shop, 'page.html')])],
  ['a name', () => renameSync(machine.inHtdocs(shop, 'page.html'), machine.inHtdocs(shop, 'old.html'))],
  ['a deletion', () => rmSync(machine.inHtdocs(shop, 'old.html'))],
])('%s shows', async (_what, change) => {
  const mark = await settled();
  await change();
  expect(await isUnchanged(mark)).toBe(false);
});

test.each([
  ['a row', "INSERT INTO notes VALUES (2, 'second')"],
  ['the same number of rows', "UPDATE notes SET text = 'other' WHERE id = 2"],
  ['a definition', 'ALTER TABLE notes ADD COLUMN more INT'],
  ['an emptied table', 'TRUNCATE notes'],
])('%s shows', async (_what, statement) => {
  const mark = await rows.take(website());
  expect(await rows.unchanged([{ ...website(), mark }])).toEqual([shop.ref.id]);
  await query(statement);
  expect(await rows.unchanged([{ ...website(), mark }])).toEqual([]);
});

onlyInLong(test)('a database that is restored without the files shows', async () => {
  const id = randomUUID();
  await backups.snapshot(shop, id);
  for (const database of ['all', ['notes']] as const) {
    const mark = await rows.take(website());
    await backups.restore(shop, id, { from: shop.ref, parts: { files: false, database } });
    expect(await rows.unchanged([{ ...website(), mark }])).toEqual([]);
  }
});

test('a transaction that is committed after the snapshot shows, although its statements came before', async () => {
  const login = ['-u', shop.unixUser, '--', 'mariadb', '--no-defaults', '-n'];
  const client = spawn('runuser', [...login, `--socket=${machine.layout.mariadbSocket}`, shop.database]);
  const ended = once(client, 'exit');
  client.stdin.write("BEGIN; INSERT INTO notes (id, text) VALUES (9, 'late'); SELECT 'written';\n");
  await once(client.stdout, 'data');
  const mark = await rows.take(website());
  client.stdin.end('COMMIT;\n');
  expect((await ended)[0]).toBe(0);
  expect(await rows.unchanged([{ ...website(), mark }])).toEqual([]);
  const settledMark = await rows.take(website());
  expect(await rows.unchanged([{ ...website(), mark: settledMark }])).toEqual([shop.ref.id]);
});

test('a later recovery point has what changed, and is restored with its base', async () => {
  machine.put(shop, 'edited.txt', 'before');
  machine.put(shop, 'deleted.txt', 'before');
  await untilLargeIsSettled();
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

onlyInLong(test)('a host that was started again makes a whole recovery point', async () => {
  const base = randomUUID();
  await record(null, [], base);
  for (const name of readdirSync(machine.layout.scratch)) rmSync(join(machine.layout.scratch, name));
  expect((await record(base, [base])).baseId).toBeNull();
});

onlyInLong(test)('a point is based on nothing that is gone from the place of the backups', async () => {
  await untilLargeIsSettled();
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

test('a point has the files that its database names, also those that were uploaded a moment before', async () => {
  await untilLargeIsSettled();
  const base = randomUUID();
  await record(null, [], base);
  const { databases } = machine;
  const on = machine.backupsWith({
    databases: {
      ...databases,
      async dump(...parameters) {
        machine.put(shop, 'photo.jpg', 'a photo');
        await query("REPLACE INTO notes (id, text) VALUES (6, 'photo.jpg')");
        return databases.dump(...parameters);
      },
    },
  });
  const point = randomUUID();
  const { baseId } = await on.recordPoint(shop, { pointId: point, baseId: base, keep: [base] });
  expect(baseId).toBe(base);
  rmSync(machine.inHtdocs(shop, 'photo.jpg'));
  await backups.restore(shop, point, { from: shop.ref, base });
  expect(await machine.notesOf(shop)).toContain('photo.jpg');
  expect(readFileSync(machine.inHtdocs(shop, 'photo.jpg'), 'utf8')).toBe('a photo');
});

onlyInLong(test)('a point has all files itself if most of them are new, and only then', async () => {
  await untilLargeIsSettled();
  const base = randomUUID();
  await record(null, [], base);
  machine.put(shop, 'small.txt', 'small');
  // A database that is larger than all files.
  await query(`REPLACE INTO notes (id, text) VALUES (7, 'x'); CREATE TABLE many (text LONGTEXT)`);
  await query(`INSERT INTO many VALUES (REPEAT('many', 2000000))`);
  expect((await record(base, [base])).baseId).toBe(base);
  await query('DROP TABLE many');
  machine.put(shop, 'large.bin', randomBytes(4 * 1024 * 1024));
  const whole = randomUUID();
  expect((await record(base, [base], whole)).baseId).toBeNull();
});

test('a point that fails leaves no listing behind', async () => {
  const pointId = randomUUID();
  // Without the file of the dump, the archive fails after the listing.
  const failing = machine.backupsWith({ databases: { ...machine.databases, dump: async () => [] } });
  const order = { pointId, baseId: null, keep: [] };
  await expect(failing.recordPoint(shop, order)).rejects.toThrow('ENOENT');
  expect(readdirSync(machine.layout.scratch).filter((name) => name.includes(pointId))).toEqual([]);
});

test('a website with too many files to look at in time counts as changed', async () => {
  await settled();
  const { layout, databases } = machine;
  const large = { ...layout, htdocsOf: () => '/usr/lib', privateOf: () => '/usr/lib' };
  const parts = { layout: large, writes: databases.writes, clock: systemClock };
  const asked = [{ ...website(), mark: await createWebsiteMarks(parts).take(website()) }];
  expect(await createWebsiteMarks(parts).unchanged(asked)).toEqual([shop.ref.id]);
  expect(await createWebsiteMarks({ ...parts, lookMs: 1 }).unchanged(asked)).toEqual([]);
  expect(await createWebsiteMarks({ ...parts, pageMs: 0 }).unchanged(asked)).toEqual([]);
});

test('a website counts as changed if the clock was set since', async () => {
  const { layout, databases } = machine;
  const ahead = { now: () => new Date(Date.now() + 1_600) };
  const parts = { layout, writes: databases.writes, clock: ahead };
  const mark = await createWebsiteMarks(parts).take(website());
  machine.put(shop, 'page.html', 'changed before that time');
  while (Date.now() - statSync(machine.inHtdocs(shop, 'page.html')).ctimeMs < 1_000) await sleep(50);
  expect(await isUnchanged(mark)).toBe(false);
});

onlyInLong(test)(
  'a point that does not fit its base is refused like a damaged backup, so that another is restored',
  async () => {
    await untilLargeIsSettled();
    const base = randomUUID();
    await record(null, [], base);
    machine.put(shop, 'late.txt', 'later than the base');
    while (Date.now() - statSync(machine.inHtdocs(shop, 'late.txt')).ctimeMs < 2_500) await sleep(100);
    await createNotedListings({ layout: machine.layout, clock: systemClock }).note(shop, base, undefined);
    const point = randomUUID();
    expect((await record(base, [base], point)).baseId).toBe(base);
    await expect(backups.restore(shop, point, { from: shop.ref, base })).rejects.toMatchObject({
      ...{ name: 'RefusedRestoreError', isLost: true },
    });
    expect(await machine.leftoversOf(shop)).toEqual([]);
  },
);
