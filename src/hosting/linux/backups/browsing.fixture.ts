import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lchownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { onlyInLong, rounds, steps } from '../../../../test/rounds.ts';
import type { BackupFilePart, BackupRefusal } from '../../contract/backup-contents.ts';
import { RefusedRestoreError } from '../../contract/errors.ts';
import { MOST_READ_BYTES } from '../../contract/snapshots.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { BackupMachine } from './backups.fixture.ts';
import type { Backups, BackupsOptions } from './backups.ts';

/** How backups are browsed, and chosen parts of them restored, on a running machine. */
export function describeBrowsing(started: () => BackupMachine): void {
  let machine: BackupMachine;
  let backups: Backups;
  let shop: HostedInstall;
  let backupId: string;
  /** All files at the time of the backup. */
  let before: string;

  const ALL = { offset: 0, limit: 500 };
  const LONG = `htdocs/${'long-name-'.repeat(9)}/${'deep-name-'.repeat(20)}.txt`;
  const photo = randomBytes(3_000_000);

  beforeAll(async () => {
    machine = started();
    backups = backupsWith();
    shop = await machine.newWebsite();
    const { inHtdocs, put, databases } = machine;
    for (const folder of ['uploads', 'uploads/2026', 'many', 'long-name-'.repeat(9)]) {
      mkdirSync(inHtdocs(shop, folder));
      lchownSync(inHtdocs(shop, folder), shop.sandbox.uid, shop.sandbox.gid);
    }
    chmodSync(inHtdocs(shop, 'uploads/2026'), 0o750);
    put(shop, 'uploads/photo.jpg', photo);
    put(shop, 'uploads/2026/größe.txt', 'ä');
    put(shop, 'uploads/2026/secret.txt', 'once');
    chmodSync(inHtdocs(shop, 'uploads/2026/secret.txt'), 0o600);
    put(shop, LONG.slice('htdocs/'.length), 'deep');
    put(shop, 'odd\nname', 'x');
    put(shop, 'wp-config.php', '<?php // as it was');
    for (let index = 0; index < 1_200; index += 1) put(shop, `many/${String(index).padStart(5, '0')}`, '');
    put(shop, 'sparse', 'x');
    truncateSync(inHtdocs(shop, 'sparse'), 5_000_000);
    writeFileSync(inHtdocs(shop, 'sparse'), 'end', { flag: 'a' });
    symlinkSync('/etc/passwd', inHtdocs(shop, 'link'));
    lchownSync(inHtdocs(shop, 'link'), shop.sandbox.uid, shop.sandbox.gid);
    linkSync(inHtdocs(shop, 'uploads/photo.jpg'), inHtdocs(shop, 'twin.jpg'));
    await databases.query(
      shop.database,
      `CREATE TABLE \`odd\`\`name\` (id INT PRIMARY KEY, text LONGTEXT);
     INSERT INTO \`odd\`\`name\` VALUES (1, '-- Table structure for table \`fake\`\\n(1'), (2, 'two');
     CREATE TABLE old_posts (id INT); CREATE TABLE empty (id INT); CREATE VIEW seen AS SELECT * FROM notes;
     CREATE TRIGGER count_notes AFTER INSERT ON notes FOR EACH ROW INSERT INTO empty VALUES (NEW.id)`,
    );
    backupId = randomUUID();
    await backups.snapshot(shop, backupId);
    before = machine.filesOf(shop);
  });

  /** In a separate place, wherever the machine's other backups are. */
  const backupsWith = (options: Partial<BackupsOptions> = {}): Backups => {
    const { layout } = machine;
    return machine.backupsWith({
      layout: { ...layout, backupPlaces: `${layout.backupPlaces}.browsed` },
      ...options,
    });
  };
  const indexOf = () => join(machine.layout.backupIndexes, shop.ref.id, `${backupId}.sqlite`);

  function given<Answer>(answer: Answer | BackupRefusal): Answer {
    if (typeof answer === 'object' && answer !== null && 'refused' in answer) throw new Error(answer.reason);
    return answer;
  }

  const list = async (folder: string, page = ALL) =>
    given(await backups.browseBackup(shop.ref, backupId, { folder, ...page }));

  async function readFile(path: string): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let offset = 0; ; ) {
      const part = { path, offset, length: MOST_READ_BYTES };
      const { size, bytes }: BackupFilePart = given(await backups.readBackupFile(shop.ref, backupId, part));
      pieces.push(bytes);
      offset += bytes.length;
      if (offset >= size) return Buffer.concat(pieces);
    }
  }

  const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

  describe('the content of a backup', () => {
    test('is listed by folders, in pages, the same from an index that is made again', async () => {
      expect(existsSync(indexOf())).toBe(true);
      const seen = async () => [
        await list(''),
        await list('htdocs'),
        await list('htdocs/uploads'),
        await list('htdocs/many', { offset: 1_000, limit: 3 }),
        given(await backups.listBackupTables(shop.ref, backupId, ALL)),
      ];
      const first = await seen();
      expect(first).toMatchObject([
        { count: 2, entries: [{ name: 'htdocs', type: 'folder', bytes: null }, { name: 'private' }] },
        expect.anything(),
        {
          count: 2,
          entries: [
            { name: '2026', type: 'folder' },
            { name: 'photo.jpg', type: 'file', bytes: photo.length, target: null },
          ],
        },
        { count: 1_200, entries: [{ name: '01000' }, { name: '01001' }, { name: '01002' }] },
        {
          count: 4,
          tables: [
            { name: 'empty', rows: 0 },
            { name: 'notes', rows: 1 },
            { name: 'odd`name', rows: 2 },
            { name: 'old_posts', rows: 0 },
          ],
        },
      ]);
      const htdocs = (await list('htdocs')).entries;
      expect(htdocs).toContainEqual(
        expect.objectContaining({ name: 'link', type: 'link', target: '/etc/passwd' }),
      );
      expect(htdocs).toContainEqual(expect.objectContaining({ name: 'odd\nname', type: 'file', bytes: 1 }));
      expect(htdocs).toContainEqual(expect.objectContaining({ name: 'sparse', bytes: 5_000_003 }));
      // Links to the WordPress of the host are no part of a backup.
      expect(htdocs.map(({ name }) => name)).not.toContain('wp-load.php');
      const changed = htdocs.find(({ name }) => name === 'wp-config.php')?.modifiedAt;
      expect(changed).toBe(Math.floor(statSync(machine.inHtdocs(shop, 'wp-config.php')).mtimeMs / 1000));

      // As it is after an index was deleted to make room, or is damaged.
      rmSync(indexOf());
      expect(await seen()).toEqual(first);
      writeFileSync(indexOf(), 'damaged');
      expect(await seen()).toEqual(first);
    });

    test('has files that are read as they were', async () => {
      expect(sha(await readFile('htdocs/uploads/photo.jpg'))).toBe(sha(photo));
      expect(sha(await readFile('htdocs/twin.jpg'))).toBe(sha(photo));
      expect((await readFile('htdocs/uploads/2026/größe.txt')).toString()).toBe('ä');
      expect((await readFile(LONG)).toString()).toBe('deep');
      expect((await readFile('htdocs/many/00000')).length).toBe(0);
      const sparse = readFileSync(machine.inHtdocs(shop, 'sparse'));
      expect(sha(await readFile('htdocs/sparse'))).toBe(sha(sparse));
    });

    test.each([
      ['htdocs/link', 'path', '"htdocs/link" is a link to "/etc/passwd", not a file.'],
      ['htdocs/uploads', 'path', '"htdocs/uploads" is a folder, not a file.'],
      ['htdocs/none', 'path', 'The backup has no file "htdocs/none".'],
      ['database.sql', 'path', 'The backup has no file "database.sql".'],
    ])('refuses to read %s', async (path, refused, reason) => {
      const answer = await backups.readBackupFile(shop.ref, backupId, { path, offset: 0, length: 10 });
      expect(answer).toEqual({ refused, reason });
    });

    test('says that a folder, a backup or its data is missing', async () => {
      expect(await backups.browseBackup(shop.ref, backupId, { folder: 'htdocs/link', ...ALL })).toEqual({
        refused: 'path',
        reason: 'The backup has no folder "htdocs/link".',
      });
      const unknown = randomUUID();
      expect(await backups.browseBackup(shop.ref, unknown, { folder: '', ...ALL })).toEqual({
        refused: 'backup',
        reason: `This host has no backup ${unknown} of ${shop.ref.name}.`,
      });
      // Another website's backup has the same answer.
      const other = await machine.newWebsite();
      expect(await backups.browseBackup(other.ref, backupId, { folder: '', ...ALL })).toMatchObject({
        refused: 'backup',
      });
      const packs = join(machine.repositoryOf(shop), 'data');
      execFileSync('cp', ['-a', packs, `${packs}.whole`]);
      const spoil =
        'find "$1" -type f | while read f; do head -c "$(stat -c %s "$f")" /dev/zero > "$f.0"; mv "$f.0" "$f"; done';
      execFileSync('sh', ['-c', spoil, 'sh', packs]);
      try {
        const part = { path: 'htdocs/wp-config.php', offset: 0, length: 10 };
        expect(await backups.readBackupFile(shop.ref, backupId, part)).toMatchObject({
          refused: 'backup',
          reason: expect.stringContaining('is damaged'),
        });
      } finally {
        rmSync(packs, { recursive: true });
        renameSync(`${packs}.whole`, packs);
      }
    });
  });

  describe('a restore of chosen parts', () => {
    const restore = (parts: { paths?: string[]; tables?: string[] }, target = shop, from = backups) =>
      from.restore(target, backupId, {
        from: shop.ref,
        parts: {
          files: parts.paths !== undefined,
          ...(parts.paths === undefined ? {} : { paths: parts.paths }),
          database: parts.tables ?? 'none',
        },
      });
    /** The other link to the photo keeps it. */
    function replacePhoto(content: string): void {
      rmSync(machine.inHtdocs(shop, 'uploads/photo.jpg'));
      machine.put(shop, 'uploads/photo.jpg', content);
    }
    const query = (sql: string) => machine.databases.query(shop.database, sql);

    test('brings back a file, a folder, a link and a table, and leaves everything else', async () => {
      const { inHtdocs, put } = machine;
      rmSync(inHtdocs(shop, 'uploads/2026'), { recursive: true });
      replacePhoto('overwritten');
      put(shop, 'uploads/new.jpg', 'uploaded since');
      put(shop, 'wp-config.php', '<?php // changed');
      rmSync(inHtdocs(shop, 'link'));
      await query(
        "UPDATE notes SET text = 'changed'; INSERT INTO empty VALUES (7); CREATE TABLE since (id INT)",
      );
      const made = await restore({ paths: ['htdocs/uploads', 'htdocs/link', LONG], tables: ['notes'] });
      expect(made).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
      expect(readFileSync(inHtdocs(shop, 'wp-config.php'), 'utf8')).toBe('<?php // changed');
      expect(readFileSync(inHtdocs(shop, 'uploads/new.jpg'), 'utf8')).toBe('uploaded since');
      expect(await machine.notesOf(shop)).toEqual(['first']);
      expect(await query('SELECT * FROM empty')).toEqual([['7']]);
      expect(await query("SHOW TABLES LIKE 'since'")).toHaveLength(1);
      // The trigger of the table came with it.
      await query("INSERT INTO notes VALUES (2, 'second')");
      expect(await query('SELECT * FROM empty ORDER BY id')).toEqual([['2'], ['7']]);
      rmSync(inHtdocs(shop, 'uploads/new.jpg'));
      await restore({ paths: ['htdocs/wp-config.php'] });
      expect(machine.filesOf(shop)).toBe(before);
      expect(await machine.leftoversOf(shop)).toEqual([]);
      await query('DROP TABLE since');
    });

    onlyInLong(test)('brings a hard link without the file that it shares', async () => {
      const { inHtdocs } = machine;
      rmSync(inHtdocs(shop, 'twin.jpg'));
      rmSync(inHtdocs(shop, 'uploads/photo.jpg'));
      await restore({ paths: ['htdocs/uploads/photo.jpg'] });
      expect(existsSync(inHtdocs(shop, 'twin.jpg'))).toBe(false);
      expect(sha(readFileSync(inHtdocs(shop, 'uploads/photo.jpg')))).toBe(sha(photo));
      await restore({ paths: ['htdocs/twin.jpg'] });
      expect(sha(readFileSync(inHtdocs(shop, 'twin.jpg')))).toBe(sha(photo));
    });

    const REFUSED: [{ paths?: string[]; tables?: string[] }, string][] = [
      [{ paths: ['htdocs/uploads/photo.jpg'], tables: ['none'] }, 'The database has no table "none".'],
      [{ paths: ['htdocs/uploads', 'htdocs/none'] }, 'The backup has no file or folder "htdocs/none".'],
      [{ tables: ['notes', 'none'] }, 'The database has no table "none".'],
    ];
    test.each(REFUSED.slice(0, rounds(1, REFUSED.length)))(
      'is refused for %j, and changes nothing',
      async (parts, reason) => {
        replacePhoto('present');
        const present = machine.filesOf(shop);
        const refused = restore(parts);
        await expect(refused).rejects.toBeInstanceOf(RefusedRestoreError);
        await expect(refused).rejects.toThrow(reason);
        expect(machine.filesOf(shop)).toBe(present);
        expect(await machine.leftoversOf(shop)).toEqual([]);
      },
    );

    onlyInLong(test)('is refused for a table that the website reads under another prefix', async () => {
      const names = ['options', 'posts', 'users', 'usermeta'].map((name) => `new_${name}`);
      await query(`DROP TABLE old_posts; ${names.map((name) => `CREATE TABLE ${name} (id INT)`).join('; ')}`);
      await expect(restore({ tables: ['old_posts'] })).rejects.toThrow(
        'The tables of the website begin with "new_", so its WordPress would not read the table "old_posts".',
      );
      expect(await query("SHOW TABLES LIKE 'old%'")).toEqual([]);
      await query(`DROP TABLE ${names.join(', ')}`);
      // A lost table is restored if no WordPress has another prefix.
      await restore({ tables: ['old_posts'] });
      expect(await query("SHOW TABLES LIKE 'old%'")).toHaveLength(1);
    });

    test('does not go through a link of the website', async () => {
      const { inHtdocs } = machine;
      rmSync(inHtdocs(shop, 'uploads'), { recursive: true });
      symlinkSync('/tmp', inHtdocs(shop, 'uploads'));
      await expect(restore({ paths: ['htdocs/uploads/2026/secret.txt'] })).rejects.toThrow(
        '"htdocs/uploads" is a link in the website and a folder in the backup.',
      );
      expect(existsSync('/tmp/2026')).toBe(false);
      rmSync(inHtdocs(shop, 'uploads'));
      await restore({ paths: ['htdocs/uploads'] });
      expect(
        execFileSync('stat', ['-c', '%a %U', inHtdocs(shop, 'uploads/2026/secret.txt')], {
          encoding: 'utf8',
        }),
      ).toBe(`600 ${shop.unixUser}\n`);
    });

    test.each(steps([], ['begun', 'htdocs', 'private', 'tables', 'unmarked', 'dropped']))(
      'is completed after a kill at the step "%s"',
      async (step) => {
        replacePhoto('present');
        await query("UPDATE notes SET text = 'present'");
        class Killed extends Error {}
        const killed = backupsWith({
          async reached(at) {
            if (at === step) throw new Killed();
          },
        });
        const wanted = { paths: ['htdocs/uploads'], tables: ['notes'] };
        await restore(wanted, shop, killed).catch(() => {});
        await backupsWith().recover(shop.ref.id);
        const isRestored = sha(readFileSync(machine.inHtdocs(shop, 'uploads/photo.jpg'))) === sha(photo);
        // Both or neither.
        expect((await machine.notesOf(shop))[0]).toBe(isRestored ? 'first' : 'present');
        expect(await machine.leftoversOf(shop)).toEqual([]);
        await restore(wanted);
        expect(await machine.notesOf(shop)).toEqual(['first']);
      },
    );

    onlyInLong(test)('into another website brings the files there', async () => {
      const other = await machine.newWebsite();
      await restore({ paths: ['htdocs/uploads/2026'] }, other);
      expect(readFileSync(machine.inHtdocs(other, 'uploads/2026/größe.txt'), 'utf8')).toBe('ä');
      expect(readFileSync(machine.inHtdocs(other, 'index.html'), 'utf8')).toBe('hello');
    });
  });

  test('an index goes with its backup', async () => {
    await backups.discard(shop.ref, backupId);
    expect(existsSync(indexOf())).toBe(false);
  });
}
