import { crc32, deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { zipEntries } from './zip-entries.ts';

/** An archive with one compressed file. */
function archiveOf(name: string, content: string): Buffer {
  const packed = deflateRawSync(content);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x0403_4b50, 0);
  local.writeUInt16LE(name.length, 26);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x0201_4b50, 0);
  entry.writeUInt16LE(8, 10);
  entry.writeUInt32LE(crc32(content), 16);
  entry.writeUInt32LE(packed.length, 20);
  entry.writeUInt16LE(name.length, 28);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(local.length + name.length + packed.length, 16);
  return Buffer.concat([local, Buffer.from(name), packed, entry, Buffer.from(name), end]);
}

it('reads the files of an archive', () => {
  const [entry] = zipEntries(archiveOf('folder/file.php', 'content'));
  expect(entry?.name).toBe('folder/file.php');
  expect(entry?.content.toString()).toBe('content');
});

it.each(['../out', '/etc/x', 'a/../../b', 'a\\b'])('refuses a file named %s', (name) => {
  expect(() => zipEntries(archiveOf(name, 'x'))).toThrow('forbidden name');
});

it('refuses a damaged archive', () => {
  const archive = archiveOf('file', 'some longer content');
  archive.writeUInt32LE(1, archive.length - 22 - 4 - 46 + 16);
  expect(() => zipEntries(archive)).toThrow('damaged');
  expect(() => zipEntries(archive.subarray(0, 40))).toThrow('damaged');
});
