import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { PermanentHostError } from './errors.ts';
import type { Host } from './host.ts';
import type { InstallRef } from './install-ref.ts';
import { ALL_PARTS, MOST_READ_BYTES, type RestoredParts } from './snapshots.ts';

/** A website on the host under test. */
export interface TestWebsite {
  host: Pick<Host, 'snapshot' | 'restore' | 'pack' | 'readPacked' | 'discardPacked'>;
  install: InstallRef;
  write(path: string, content: string | Buffer): Promise<void> | void;
  read(path: string): Promise<string> | string;
  /** Folder of the website's files inside a packed archive, `./` or `htdocs/`. */
  inArchive: string;
  /** Makes the stored snapshot unreadable. */
  damage(backupId: string): Promise<void> | void;
}

/** The rules of packed archives and of restores of parts, the same on every host. */
export function describeBackupParts(website: () => TestWebsite): void {
  async function packed(backupId: string, archiveId = randomUUID()) {
    const { host, install } = website();
    const made = await host.pack(install, { backupId, archiveId });
    const pieces: Buffer[] = [];
    for (let offset = 0; offset < made.bytes; ) {
      const piece = await host.readPacked(install, archiveId, { offset, length: 2 * MOST_READ_BYTES });
      expect(piece.length).toBeGreaterThan(0);
      expect(piece.length).toBeLessThanOrEqual(MOST_READ_BYTES);
      pieces.push(piece);
      offset += piece.length;
    }
    return { made, archiveId, content: Buffer.concat(pieces) };
  }

  async function backedUp(): Promise<string> {
    const id = randomUUID();
    await website().host.snapshot(website().install, id);
    return id;
  }

  describe('a packed archive', () => {
    test('is a .tar.gz with every file, read in parts of any size', async () => {
      const { host, install, write, inArchive } = website();
      const photo = randomBytes(3 * 1024 * 1024);
      await write('index.html', 'packed');
      await write('photo.jpg', photo);
      const { made, archiveId, content } = await packed(await backedUp());
      expect(content.length).toBe(made.bytes);
      expect(createHash('sha256').update(content).digest('hex')).toBe(made.sha256);
      const untar = (name: string) =>
        execFileSync('tar', ['-xzO', '-f', '-', `${inArchive}${name}`], {
          input: content,
          maxBuffer: 1e8,
        });
      expect(untar('index.html').toString()).toBe('packed');
      expect(untar('photo.jpg').equals(photo)).toBe(true);
      const part = { offset: 10, length: 7 };
      expect(await host.readPacked(install, archiveId, part)).toEqual(content.subarray(10, 17));
      const end = { offset: made.bytes - 3, length: 100 };
      expect(await host.readPacked(install, archiveId, end)).toEqual(content.subarray(-3));
      expect(await host.readPacked(install, archiveId, { offset: made.bytes, length: 1 })).toHaveLength(0);
    });

    test('can be made again and deleted, and deleted again', async () => {
      const { host, install } = website();
      const backupId = await backedUp();
      const { archiveId, made } = await packed(backupId);
      expect(await host.pack(install, { backupId, archiveId })).toEqual(made);
      await host.discardPacked(install, archiveId);
      await host.discardPacked(install, archiveId);
      const read = host.readPacked(install, archiveId, { offset: 0, length: 1 });
      await expect(read).rejects.toThrow(PermanentHostError);
    });

    test('is not made of a missing or damaged backup', async () => {
      const { host, install, damage } = website();
      const archiveId = randomUUID();
      const missing = host.pack(install, { backupId: randomUUID(), archiveId });
      await expect(missing).rejects.toThrow(PermanentHostError);
      const backupId = await backedUp();
      await damage(backupId);
      await expect(host.pack(install, { backupId, archiveId })).rejects.toThrow(/is damaged: /);
      const read = host.readPacked(install, archiveId, { offset: 0, length: 1 });
      await expect(read).rejects.toThrow(PermanentHostError);
    });
  });

  describe('a restore', () => {
    const files: RestoredParts = { files: true, database: 'none' };
    test.each([
      ['of the files', files],
      ['of everything', ALL_PARTS],
    ])('%s replaces the files', async (_name, parts) => {
      const { host, install, write, read } = website();
      await write('index.html', 'before');
      const id = await backedUp();
      await write('index.html', 'after');
      await host.restore(install, id, { parts });
      expect(await read('index.html')).toBe('before');
    });
  });
}
