import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { steps } from '../../../../test/rounds.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import { describeBackupParts } from '../../contract/backup-parts.fixture.ts';
import { PermanentHostError, RefusedRestoreError } from '../../contract/errors.ts';
import { ALL_PARTS, type RestoredParts } from '../../contract/snapshots.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { type BackupMachine, startBackupMachine } from './backups.fixture.ts';
import type { Backups } from './backups.ts';
import { folderStorage } from './folder-storage.ts';
import { newRepository } from './new-repository.ts';
import { REPLACEMENT_STEPS, type ReplacementStep } from './website-replacement.ts';

let machine: BackupMachine;
let backups: Backups;
let shop: HostedInstall;

beforeAll(async () => {
  machine = await startBackupMachine();
  backups = machine.backupsWith();
  shop = await machine.newWebsite();
});
afterAll(() => machine?.stop());

const note = (text: string) => machine.databases.query(shop.database, `UPDATE notes SET text = '${text}'`);

/** The website as a whole: which of its states it is in, or a mixture of both. */
async function seen(): Promise<string> {
  const page = join(machine.inHtdocs(shop), 'index.html');
  const hidden = join(machine.homeOf(shop), 'private', 'secret');
  return [readFileSync(page, 'utf8'), readFileSync(hidden, 'utf8'), ...(await machine.notesOf(shop))].join(
    ' ',
  );
}

async function bringTo(state: string): Promise<void> {
  machine.put(shop, 'index.html', state);
  machine.put(shop, '../private/secret', state);
  await note(state);
}

describeBackupParts(() => ({
  host: {
    snapshot: (_install, id) => backups.snapshot(shop, id),
    restore: (_install, id, options) => backups.restore(shop, id, { ...options, from: shop.ref }),
    pack: backups.pack,
    readPacked: ({ id }, archiveId, part) => backups.readPacked(id, archiveId, part),
    discardPacked: ({ id }, archiveId) => backups.discardPacked(id, archiveId),
  },
  install: shop.ref,
  write: (path, content) => machine.put(shop, path, content),
  read: (path) => readFileSync(machine.inHtdocs(shop, path), 'utf8'),
  inArchive: 'htdocs/',
  damage(backupId) {
    // Something else under the id of this backup.
    const found = machine.restic(shop, ['snapshots', '--json', '--tag', backupId]).toString();
    machine.restic(shop, ['forget', ...JSON.parse(found).map(({ id }: { id: string }) => id)]);
    const tags = ['--tag', backupId, '--host', 'homeport'];
    const archive = ['backup', '--stdin', '--stdin-filename', 'website.tar', ...tags];
    machine.restic(shop, archive, randomBytes(2048));
  },
}));

describe('an interrupted replacement', () => {
  const id = randomUUID();
  beforeAll(async () => {
    await bringTo('old');
    await backups.snapshot(shop, id);
  });
  beforeEach(() => bringTo('new'));

  test.each(REPLACEMENT_STEPS)('by a kill after "%s" ends whole, or was never begun', async (step) => {
    const reached = Promise.withResolvers<void>();
    const killed = machine.backupsWith({
      // It stands still there for ever, as a killed process does.
      reached: (at: ReplacementStep) =>
        at === step ? new Promise(() => reached.resolve()) : Promise.resolve(),
    });
    void killed.restore(shop, id, { from: shop.ref });
    await reached.promise;
    const next = machine.backupsWith();
    await next.recover(shop.ref.id);
    expect(await seen()).toBe(step === 'prepared' ? 'new new new' : 'old old old');
    expect(await machine.leftoversOf(shop)).toEqual([]);
    await next.recover(shop.ref.id);
    expect(await seen()).toBe(step === 'prepared' ? 'new new new' : 'old old old');
  });

  const FILES: RestoredParts = { files: true, database: 'none' };
  const DATABASE: RestoredParts = { files: false, database: 'all' };
  const TABLE: RestoredParts = { files: false, database: ['notes'] };
  test.each([
    ...steps(['prepared', 'htdocs'], ['prepared', 'begun', 'htdocs', 'private', 'dropped'] as const).map(
      (step) => [step, FILES] as const,
    ),
    ...steps(['begun', 'tables'], REPLACEMENT_STEPS).flatMap((step) => [
      [step, DATABASE] as const,
      [step, TABLE] as const,
    ]),
  ])('of parts, by a kill after "%s" of %j, ends whole, or was never begun', async (step, parts) => {
    const reached = Promise.withResolvers<void>();
    const killed = machine.backupsWith({
      reached: (at: ReplacementStep) =>
        at === step ? new Promise(() => reached.resolve()) : Promise.resolve(),
    });
    void killed.restore(shop, id, { from: shop.ref, parts });
    await reached.promise;
    const next = machine.backupsWith();
    await next.recover(shop.ref.id);
    const replaced = parts.files ? 'old old new' : 'new new old';
    expect(await seen()).toBe(step === 'prepared' ? 'new new new' : replaced);
    expect(await machine.leftoversOf(shop)).toEqual([]);
  });

  test.each(['begun', 'htdocs', 'private'] as const)(
    'of the files, by a failure after "%s", leaves the present website',
    async (step) => {
      const failing = machine.backupsWith({
        reached: async (at) => {
          if (at === step) throw new Error('the disk is full');
        },
      });
      const restored = failing.restore(shop, id, { from: shop.ref, parts: FILES });
      await expect(restored).rejects.toThrow('the disk is full');
      expect(await seen()).toBe('new new new');
      expect(await machine.leftoversOf(shop)).toEqual([]);
    },
  );

  test('of the files, by a failure at its very end, is complete', async () => {
    const failing = machine.backupsWith({
      reached: async (at) => {
        if (at === 'dropped') throw new Error('the disk is full');
      },
    });
    const restored = failing.restore(shop, id, { from: shop.ref, parts: FILES });
    await expect(restored).rejects.toThrow('the disk is full');
    await machine.backupsWith().recover(shop.ref.id);
    expect(await seen()).toBe('old old new');
    expect(await machine.leftoversOf(shop)).toEqual([]);
  });

  test.each(['prepared', 'begun', 'htdocs', 'private'] as const)(
    'by a failure after "%s" leaves the present website',
    async (step) => {
      const failing = machine.backupsWith({
        reached: async (at) => {
          if (at === step) throw new Error('the disk is full');
        },
      });
      await expect(failing.restore(shop, id, { from: shop.ref })).rejects.toThrow('the disk is full');
      expect(await seen()).toBe('new new new');
      expect(await machine.leftoversOf(shop)).toEqual([]);
    },
  );
});

test('a damaged backup, a wrong password and a missing one touch nothing', async () => {
  machine.put(shop, 'photo.jpg', randomBytes(3_000_000));
  const id = randomUUID();
  await backups.snapshot(shop, id);
  const before = machine.filesOf(shop);
  await expect(backups.restore(shop, randomUUID(), { from: shop.ref })).rejects.toThrow(/no backup/);
  const strange = machine.backupsWith({ passwordOf: async () => 'another' });
  await expect(strange.restore(shop, id, { from: shop.ref })).rejects.toThrow(/another sealing key/);
  await expect(strange.snapshot(shop, randomUUID())).rejects.toThrow(PermanentHostError);
  const data = join(machine.repositoryOf(shop), 'data');
  const packs = execFileSync('find', [data, '-type', 'f', '-size', '+100k'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const kept = packs.map((path) => ({ path, bytes: readFileSync(path) }));
  for (const { path, bytes } of kept) {
    const flipped = Buffer.from(bytes);
    for (let at = 5_000; at < bytes.length; at += 20_000) flipped.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(path, flipped);
  }
  await expect(backups.restore(shop, id, { from: shop.ref })).rejects.toThrow(/is damaged.*is unchanged/);
  expect(machine.filesOf(shop)).toBe(before);
  expect(await machine.leftoversOf(shop)).toEqual([]);
  for (const { path, bytes } of kept) writeFileSync(path, bytes);
  await backups.restore(shop, id, { from: shop.ref });
  rmSync(machine.inHtdocs(shop, 'photo.jpg'));
});

test('a signal ends a backup and a restore, and leaves nothing of them', async () => {
  machine.put(shop, 'large.bin', randomBytes(40_000_000));
  const id = randomUUID();
  for (const ms of [20, 100, 250]) {
    await expect(backups.snapshot(shop, id, AbortSignal.timeout(ms))).rejects.toThrow(/timeout|aborted/);
  }
  const made = await backups.snapshot(shop, id);
  const before = machine.filesOf(shop);
  for (const ms of [20, 100, 250]) {
    const signal = AbortSignal.timeout(ms);
    await expect(backups.restore(shop, id, { from: shop.ref, signal })).rejects.toThrow(/timeout|aborted/);
    expect(machine.filesOf(shop)).toBe(before);
    expect(await machine.leftoversOf(shop)).toEqual([]);
  }
  expect(await backups.restore(shop, id, { from: shop.ref })).toEqual(made);
  rmSync(machine.inHtdocs(shop, 'large.bin'));
});

test('a killed restic leaves no lasting lock', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  await backups.snapshot(shop, one);
  await machine.killPrune(shop);
  await backups.snapshot(shop, two);
  await machine.killPrune(shop);
  await backups.restore(shop, one, { from: shop.ref });
  await machine.killPrune(shop);
  await backups.discard(shop.ref, one);
  await expect(backups.restore(shop, one, { from: shop.ref })).rejects.toThrow(/no backup/);
});

test('a repository interrupted between its files is created again', async () => {
  await backups.removeAll(shop.ref.id);
  const { key } = await newRepository(`password of ${shop.ref.id}`, {
    random: systemRandomness,
    now: new Date(),
  });
  await folderStorage(machine.repositoryOf(shop)).write(key.name, key.content);
  const id = randomUUID();
  const made = await backups.snapshot(shop, id);
  // restic tries several keys in random order, so there must be only one.
  expect(readdirSync(join(machine.repositoryOf(shop), 'keys'))).toHaveLength(1);
  expect(await backups.restore(shop, id, { from: shop.ref })).toEqual(made);
});

test('a website whose database is gone gets it back', async () => {
  await note('kept');
  const id = randomUUID();
  await backups.snapshot(shop, id);
  await machine.databases.query(shop.database, `DROP DATABASE ${shop.database}`);
  await backups.restore(shop, id, { from: shop.ref });
  expect(await machine.notesOf(shop)).toEqual(['kept']);
  await backups.snapshot(shop, randomUUID());
  await machine.databases.drop(shop.database, shop.unixUser);
  await backups.restore(shop, id, { from: shop.ref });
  expect(await machine.notesOf(shop)).toEqual(['kept']);
});

test('an incomplete archive is not a backup, and is made again', async () => {
  const id = randomUUID();
  const half = ['backup', '--stdin', '--stdin-filename', 'website.tar', '--tag', id];
  machine.restic(shop, half, randomBytes(100_000));
  await expect(backups.restore(shop, id, { from: shop.ref })).rejects.toThrow(/is damaged/);
  const made = await backups.snapshot(shop, id);
  expect(await backups.restore(shop, id, { from: shop.ref })).toEqual(made);
});

test('what its owner cannot read is named', async () => {
  machine.put(shop, 'closed', 'x');
  execFileSync('chmod', ['000', machine.inHtdocs(shop, 'closed')]);
  await expect(backups.snapshot(shop, randomUUID())).rejects.toThrow(/"htdocs\/closed" cannot be read/);
  rmSync(machine.inHtdocs(shop, 'closed'));
});

test('nothing of another gets into a backup by a link, and nothing out of one by a restore', async () => {
  const secret = join(machine.layout.folder, 'secret');
  mkdirSync(secret);
  writeFileSync(join(secret, 'key'), 'secret of another');
  rmSync(machine.inHtdocs(shop), { recursive: true });
  mkdirSync(machine.inHtdocs(shop));
  execFileSync('chown', [`${shop.sandbox.uid}:${shop.sandbox.gid}`, machine.inHtdocs(shop)]);
  machine.put(shop, 'index.html', 'x');
  for (const name of ['stolen', 'wp-content']) symlinkSync(secret, machine.inHtdocs(shop, name));
  const id = randomUUID();
  await backups.snapshot(shop, id);
  const archive = machine.restic(shop, ['dump', '--tag', id, 'latest', 'website.tar']);
  expect(archive.includes('secret of another')).toBe(false);
  await backups.restore(shop, id, { from: shop.ref });
  expect(execFileSync('readlink', [machine.inHtdocs(shop, 'stolen')], { encoding: 'utf8' }).trim()).toBe(
    secret,
  );
  expect(execFileSync('ls', [secret], { encoding: 'utf8' }).trim()).toBe('key');
});

test('one backup goes and the others stay; then all go', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  await backups.snapshot(shop, one);
  await backups.snapshot(shop, two);
  await backups.discard(shop.ref, one);
  await backups.discard(shop.ref, one);
  await backups.discard({ id: randomUUID(), name: 'none' }, one);
  await expect(backups.restore(shop, one, { from: shop.ref })).rejects.toThrow(/no backup/);
  await backups.restore(shop, two, { from: shop.ref });
  await backups.removeAll(shop.ref.id);
  await backups.removeAll(shop.ref.id);
  expect(existsSync(machine.repositoryOf(shop))).toBe(false);
  await expect(backups.restore(shop, two, { from: shop.ref })).rejects.toThrow(/no backup/);
});

test('a restore leaves space on the disk to others, and says so', async () => {
  const id = randomUUID();
  await backups.snapshot(shop, id);
  const restoring = (freeBytes: number, parts: RestoredParts) =>
    machine.backupsWith({ free: async () => freeBytes }).restore(shop, id, { from: shop.ref, parts });
  const files = { files: true, database: 'none' as const };
  const almostFull = 64 * 1024 ** 2;
  for (const parts of [files, { files: false, database: 'all' as const }]) {
    const refused = restoring(almostFull - 1, parts);
    await expect(refused).rejects.toBeInstanceOf(RefusedRestoreError);
    await expect(refused).rejects.toThrow('too little free space');
  }
  await restoring(almostFull, ALL_PARTS);
});

describe('a restore of some tables', () => {
  const id = randomUUID();
  const query = (sql: string) => machine.databases.query(shop.database, sql);
  const restore = (tables: string[], backupId = id) =>
    backups.restore(shop, backupId, { from: shop.ref, parts: { files: false, database: tables } });

  beforeAll(async () => {
    await query(
      `CREATE TABLE pages (id INT PRIMARY KEY, text VARCHAR(100)); INSERT INTO pages VALUES (1, 'old');
       CREATE TABLE seen (id INT); CREATE VIEW texts AS SELECT text FROM pages;
       CREATE TRIGGER counted AFTER INSERT ON pages FOR EACH ROW INSERT INTO seen VALUES (NEW.id)`,
    );
    await bringTo('old');
    await backups.snapshot(shop, id);
  });
  beforeEach(async () => {
    await bringTo('new');
    await query(
      `UPDATE pages SET text = 'new'; DELETE FROM seen; DROP TRIGGER IF EXISTS counted; DROP VIEW texts;
       CREATE VIEW texts AS SELECT CONCAT(text, '!') FROM pages; CREATE OR REPLACE TABLE later (id INT)`,
    );
  });

  test('replaces these with their triggers, and leaves everything else', async () => {
    await restore(['pages']);
    expect(await query('SELECT * FROM texts')).toEqual([['old!']]);
    expect(await seen()).toBe('new new new');
    expect(await query("SHOW TABLES LIKE 'later'")).toEqual([['later']]);
    await query("INSERT INTO pages VALUES (7, 'more')");
    expect(await query('SELECT id FROM seen')).toEqual([['7']]);
    await query('DELETE FROM pages WHERE id = 7');
    expect(await machine.leftoversOf(shop)).toEqual([]);
  });

  test('brings back a table that is missing', async () => {
    await query('DROP TABLE notes');
    await restore(['notes', 'pages']);
    expect(await machine.notesOf(shop)).toEqual(['old']);
    expect(await query('SELECT text FROM pages')).toEqual([['old']]);
  });

  test.each([['nothing'], ['texts'], ['homeport_restored'], ['`; DROP TABLE pages']])(
    'refuses %s, which is no table of the backup',
    async (name) => {
      const restored = restore(['pages', name]);
      await expect(restored).rejects.toThrow(PermanentHostError);
      await expect(restored).rejects.toThrow(
        `The database has no table "${name}". The website is unchanged.`,
      );
      expect(await query('SELECT text FROM pages')).toEqual([['new']]);
      expect(await machine.leftoversOf(shop)).toEqual([]);
    },
  );

  test('drops tables that the backup lacks if a checkpoint is put back', async () => {
    await backups.restore(shop, id, {
      from: shop.ref,
      parts: { files: false, database: ['pages', 'later'], dropAbsent: true },
    });
    expect(await query("SHOW TABLES LIKE 'later'")).toEqual([]);
    expect(await query('SELECT text FROM pages')).toEqual([['old']]);
    expect(await seen()).toBe('new new new');
    expect(await machine.leftoversOf(shop)).toEqual([]);
  });

  test('refuses to part tables that a foreign key connects', async () => {
    await query(
      `CREATE TABLE parents (id INT PRIMARY KEY) ENGINE=InnoDB;
       CREATE TABLE children (parent INT, FOREIGN KEY (parent) REFERENCES parents (id)) ENGINE=InnoDB;
       INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1)`,
    );
    const connected = randomUUID();
    await backups.snapshot(shop, connected);
    await query('DELETE FROM children');
    const advice = 'A foreign key connects the tables "children" and "parents". Name both or neither.';
    for (const table of ['parents', 'children']) {
      await expect(restore([table], connected)).rejects.toThrow(advice);
    }
    await restore(['parents', 'children'], connected);
    expect(await query('SELECT parent FROM children')).toEqual([['1']]);
    await expect(query('INSERT INTO children VALUES (9)')).rejects.toThrow(/foreign key/);
    expect(await machine.leftoversOf(shop)).toEqual([]);
  });
});
