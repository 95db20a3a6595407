import { crc32, inflateRawSync } from 'node:zlib';

export interface ZipEntry {
  /** Path with `/`. Folders are left out. */
  name: string;
  content: Buffer;
}

const END = 0x0605_4b50;
const ENTRY = 0x0201_4b50;
const LOCAL = 0x0403_4b50;
const END_BYTES = 22;
const STORED = 0;
const DEFLATED = 8;
/** The largest file that is unpacked. */
const LARGEST = 64 * 1024 * 1024;

/** Reads the files of a small ZIP archive and checks them. Throws if it is damaged or a name leads out of it. */
export function zipEntries(archive: Buffer): ZipEntry[] {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (end === -1 || end + END_BYTES > archive.length || archive.readUInt32LE(end) !== END) throw damaged();
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  const entries: ZipEntry[] = [];
  for (let index = 0; index < count; index++) {
    if (archive.readUInt32LE(at) !== ENTRY) throw damaged();
    const nameBytes = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameBytes);
    if (!name.endsWith('/')) entries.push({ name: checked(name), content: contentOf(archive, at) });
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

function contentOf(archive: Buffer, at: number): Buffer {
  const method = archive.readUInt16LE(at + 10);
  const sum = archive.readUInt32LE(at + 16);
  const packedBytes = archive.readUInt32LE(at + 20);
  const local = archive.readUInt32LE(at + 42);
  if (archive.readUInt32LE(local) !== LOCAL) throw damaged();
  const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const packed = archive.subarray(from, from + packedBytes);
  if (method !== STORED && method !== DEFLATED) throw damaged();
  const content = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: LARGEST });
  if (crc32(content) !== sum) throw damaged();
  return content;
}

function checked(name: string): string {
  if (name.startsWith('/') || name.includes('\\') || name.includes('\0') || name.split('/').includes('..')) {
    throw new Error(`the archive has a file with a forbidden name: ${JSON.stringify(name)}`);
  }
  return name;
}

function damaged(): Error {
  return new Error('the ZIP archive is damaged');
}
