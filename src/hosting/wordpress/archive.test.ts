import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { has } from '../../../test/missing-programs.ts';
import { runCommand } from '../../lib/run-command.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { isArchiveName, parseZipLine, refuseForeign, unpackArchive } from './archive.ts';

it('knows archives by their names', () => {
  expect(['a.zip', 'a.ZIP', 'a.tar.gz', 'a.tgz'].every(isArchiveName)).toBe(true);
  expect(['a', 'a.tar', 'a.zip.txt', 'zip', 'a.gz'].some(isArchiveName)).toBe(false);
});

describe('what the programs list', () => {
  it('is read with names as they are', () => {
    expect(parseZipLine('-rw-r--r--  3.0 unx      405 tx defN 20-Feb-06 06:33 wordpress/a b.php')).toEqual({
      type: '-',
      name: 'wordpress/a b.php',
      size: 405,
    });
    expect(parseZipLine('drwx---     2.0 fat        0 b- stor 80-Jan-01 00:00 wordpress/').type).toBe('d');
    expect(parseZipLine('?rw-------  2.0 unx        1 b- stor 80-Jan-01 00:00 x')).toEqual({
      type: '-',
      name: 'x',
      size: 1,
    });
  });

  it('is refused where it is not understood', () => {
    expect(() => parseZipLine('caution: filename')).toThrow(PermanentHostError);
  });
});

describe('refuseForeign', () => {
  it('lets folders and files pass', () => {
    refuseForeign('a.zip', [
      { type: 'd', name: 'wordpress/', size: 0 },
      { type: '-', name: 'wordpress/..a/b..php', size: 1 },
    ]);
  });

  it.each([
    ['l', 'wordpress/link', 'contains a link, wordpress/link'],
    ['h', 'wordpress/link', 'contains a link'],
    ['c', 'wordpress/null', 'neither a file nor a folder'],
    ['-', '/etc/passwd', 'leads outside: /etc/passwd'],
    ['-', 'wordpress/../../etc/passwd', 'leads outside'],
    ['d', '..', 'leads outside'],
    ['-', 'wordpress\\..\\x', 'leads outside'],
  ])('refuses %s %s', (type, name, message) => {
    expect(() =>
      refuseForeign('a.zip', [
        { type: '-', name: 'fine', size: 1 },
        { type, name, size: 1 },
      ]),
    ).toThrow(message);
  });

  it('refuses an empty one', () => {
    expect(() => refuseForeign('a.zip', [])).toThrow('a.zip is empty');
  });
});

describe('unpackArchive', () => {
  let folder: string;
  let made = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'archive-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  type Entry = Partial<Header> & { name: string; content?: Buffer };

  async function tarOf(entries: Entry[]): Promise<Buffer> {
    const tar = pack();
    for (const { content = Buffer.alloc(0), ...header } of entries) tar.entry(header, content);
    tar.finalize();
    return buffer(tar);
  }

  /** Unpacks an archive with that content, and returns the folder with its files. */
  async function unpack(bytes: Buffer, most?: Parameters<typeof unpackArchive>[2]): Promise<string> {
    const archive = join(folder, `${++made}.tar.gz`);
    writeFileSync(archive, bytes);
    return unpackArchive(archive, join(folder, `${made}`), most);
  }

  const index: Entry = { name: 'wordpress/index.php', content: Buffer.from('<?php') };

  it('gives the folder of WordPress', async () => {
    const found = await unpack(gzipSync(await tarOf([index])));
    expect(readFileSync(join(found, 'index.php'), 'utf8')).toBe('<?php');
  });

  it.each<[string, Entry, string]>([
    ['a name outside', { name: '../outside' }, 'leads outside'],
    ['an absolute name', { name: '/outside' }, 'leads outside'],
    ['a link', { name: 'wordpress/a', type: 'symlink', linkname: '/etc/passwd' }, 'contains a link'],
    [
      'a hard link',
      { name: 'wordpress/a', type: 'link', linkname: 'wordpress/index.php' },
      'contains a link',
    ],
    ['a device', { name: 'wordpress/a', type: 'character-device' }, 'neither a file nor a folder'],
    ['a pipe', { name: 'wordpress/a', type: 'fifo' }, 'neither a file nor a folder'],
    ['a huge name', { name: `wordpress/${'x'.repeat(5_000)}` }, 'cannot be unpacked'],
    [
      'a name with a zero byte',
      { name: 'wordpress/a', pax: { path: 'wordpress/a\0b' } },
      'cannot be unpacked',
    ],
    ['a file twice', index, 'cannot be unpacked'],
  ])('refuses %s', async (_what, entry, reason) => {
    await expect(unpack(gzipSync(await tarOf([index, entry])))).rejects.toThrow(
      expect.objectContaining({ name: 'PermanentHostError', message: expect.stringContaining(reason) }),
    );
    expect(existsSync(join(folder, 'outside'))).toBe(false);
  });

  it('refuses a bomb before its content', async () => {
    const bomb = await tarOf([index, { name: 'wordpress/big', content: Buffer.alloc(4 * 1024 ** 2) }]);
    await expect(unpack(gzipSync(bomb), { bytes: 1024 ** 2, entries: 10 })).rejects.toThrow(
      'more than 1048576 bytes unpacked',
    );
    expect(readdirSync(join(folder, `${made}`, 'content/wordpress'))).toEqual(['index.php']);
    const many = await tarOf([index, ...[1, 2, 3].map((n) => ({ name: `wordpress/${n}` }))]);
    await expect(unpack(gzipSync(many), { bytes: 1024, entries: 3 })).rejects.toThrow('more than 3 entries');
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['truncated', (bytes) => bytes.subarray(0, bytes.length - 20)],
    ['no gzip', () => Buffer.from('<!doctype html>')],
    ['damaged', (bytes) => Buffer.concat([bytes.subarray(0, 30), Buffer.alloc(40, 7), bytes.subarray(70)])],
    ['empty', () => Buffer.alloc(0)],
  ])('refuses one that is %s', async (_what, change) => {
    const whole = gzipSync(await tarOf([index, { name: 'wordpress/a', content: Buffer.alloc(3_000, 1) }]));
    await expect(unpack(change(whole))).rejects.toBeInstanceOf(PermanentHostError);
  });

  it('refuses a zip that is larger than it may be', { skip: !has('zip', 'unzip') }, async () => {
    writeFileSync(join(folder, 'big'), Buffer.alloc(1024 ** 2));
    const archive = join(folder, 'bomb.zip');
    await runCommand('zip', ['-q', '-j', archive, join(folder, 'big')], { timeoutMs: 60_000 });
    await expect(unpackArchive(archive, join(folder, 'zip'), { bytes: 1024, entries: 10 })).rejects.toThrow(
      'more than 1024 bytes unpacked',
    );
  });
});
