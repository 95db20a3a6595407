import fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rounds } from '../../../../test/rounds.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { measureFiles } from '../snapshots/measure-files.ts';
import { createDiskQuotas } from './disk-quota.ts';
import type { Sftp } from './sftp-client.fixture.ts';
import { blog, eve, type SftpPlace, shop, startSftpPlace } from './sftp-gateway.fixture.ts';

/** Many blocks of the file system, and few bytes to encrypt. */
const UNIT = 256 * 1024;

let here: SftpPlace;
let sftp: Sftp;
beforeEach(async () => {
  here = await startSftpPlace();
  // Each folder has an index.html, which counts as one block of the file system.
  const limits = { bytes: 10 * UNIT, files: 10 };
  const quotas = createDiskQuotas({
    measure: (id) => measureFiles(here.filesOf(id), limits),
    limits,
    clock: here.clock,
  });
  await here.restart({ quotas });
  sftp = await here.signIn();
});
afterEach(() => here.remove());

const FULL = { code: 4, message: expect.stringMatching(/^Disk quota exceeded: .*\. Delete files first$/) };

describe('the bytes of an install', () => {
  test('are limited for truncate, by path and by handle', async () => {
    await sftp.writeFile('/sparse', '');
    await expect(sftp.setstat('/sparse', { size: 64 * 1024 ** 3 })).rejects.toMatchObject(FULL);
    const handle = await sftp.open('/sparse', 'r+');
    await expect(sftp.fsetstat(handle, { size: 11 * UNIT })).rejects.toMatchObject(FULL);
    expect(fs.statSync(here.hostFile('sparse')).size).toBe(0);
    await sftp.fsetstat(handle, { size: 9 * UNIT });
    await expect(sftp.writeFile('/other', 'x'.repeat(UNIT))).rejects.toMatchObject(FULL);
  });

  test('are limited for writes far beyond the end and for appending', async () => {
    const handle = await sftp.open('/file', 'w');
    await expect(sftp.write(handle, 64 * 1024 ** 3 - 1, 'x')).rejects.toMatchObject(FULL);
    await sftp.write(handle, 9 * UNIT, 'x');
    const appended = await sftp.open('/log', 'a');
    const line = 'x'.repeat(200_000);
    let written = 0;
    const writing = async () => {
      for (; written < 20; written++) await sftp.write(appended, 0, line);
    };
    await expect(writing()).rejects.toMatchObject(FULL);
    expect(written).toBeGreaterThan(0);
    // Overwriting needs no extra space.
    await sftp.write(handle, 0, 'y');
  });

  test('are free again after remove, truncate, replacing and overwriting', async () => {
    const fill = (path: string) => sftp.writeFile(path, 'x'.repeat(8 * UNIT));
    await fill('/a');
    await sftp.unlink('/a');
    await fill('/b');
    await fill('/b');
    await sftp.setstat('/b', { size: 0 });
    await fill('/c');
    await sftp.writeFile('/d', '');
    await sftp.posixRename('/d', '/c');
    await fill('/e');
  });

  test('are not free after renaming a file to itself', async () => {
    await sftp.writeFile('/a', 'x'.repeat(9 * UNIT));
    await sftp.posixRename('/a', '/a');
    await expect(sftp.writeFile('/b', 'x'.repeat(2 * UNIT))).rejects.toMatchObject(FULL);
  });

  test('count small files by their blocks, so creating and removing them frees nothing', async () => {
    await sftp.writeFile('/a', 'x'.repeat(9 * UNIT));
    // Enough for a whole unit if each round freed the rest of a block.
    for (let n = 0; n < rounds(100, 300); n++) {
      await sftp.writeFile('/small', 'x');
      await sftp.unlink('/small');
    }
    await expect(sftp.writeFile('/b', 'x'.repeat(2 * UNIT))).rejects.toMatchObject(FULL);
  });

  test('are freed once if removing a file is the first request', async () => {
    fs.writeFileSync(here.hostFile('a'), Buffer.alloc(9 * UNIT));
    await sftp.unlink('/a');
    await sftp.writeFile('/b', 'x'.repeat(9 * UNIT));
    await expect(sftp.writeFile('/c', 'x'.repeat(2 * UNIT))).rejects.toMatchObject(FULL);
  });

  test('of a removed file count until it is closed', async () => {
    const handle = await sftp.open('/a', 'w');
    await sftp.fsetstat(handle, { size: 9 * UNIT });
    await sftp.unlink('/a');
    await expect(sftp.writeFile('/b', 'x'.repeat(2 * UNIT))).rejects.toMatchObject(FULL);
    here.clock.advance(11 * MINUTE_MS);
    await expect(sftp.writeFile('/b', 'x'.repeat(2 * UNIT))).rejects.toMatchObject(FULL);
    await sftp.close(handle);
    await sftp.writeFile('/b', 'x'.repeat(2 * UNIT));
  });

  test('of another install count only for that install', async () => {
    await sftp.writeFile('/a', 'x'.repeat(9 * UNIT));
    const other = await here.signIn({ username: blog.name, privateKey: eve.private });
    await other.writeFile('/a', 'x'.repeat(9 * UNIT));
  });

  test('are measured again before a refusal, and periodically', async () => {
    await sftp.writeFile('/a', 'x'.repeat(9 * UNIT));
    fs.rmSync(here.hostFile('a'));
    here.clock.advance(MINUTE_MS);
    await sftp.writeFile('/b', 'x'.repeat(9 * UNIT));
    fs.truncateSync(here.hostFile('b'), 0);
    fs.writeFileSync(here.hostFile('by the operator'), Buffer.alloc(9 * UNIT));
    here.clock.advance(11 * MINUTE_MS);
    await expect(sftp.writeFile('/c', 'x'.repeat(2 * UNIT))).rejects.toMatchObject(FULL);
  });
});

test('the number of files and folders of an install is limited', async () => {
  for (let n = 0; n < 8; n++) await sftp.writeFile(`/${n}`, '');
  await sftp.mkdir('/folder');
  await expect(sftp.mkdir('/another')).rejects.toMatchObject(FULL);
  await expect(sftp.writeFile('/one more', '')).rejects.toMatchObject(FULL);
  await sftp.writeFile('/0', 'there already');
  await sftp.rmdir('/folder');
  await sftp.mkdir('/another');
  await sftp.rename('/1', '/renamed');
  expect(fs.readdirSync(here.filesOf(shop.id))).toHaveLength(10);
});
