import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DamagedBackupError, type Description, tailOf } from './archive-manifest.ts';
import { type ArchiveReader, readArchive } from './archive-read.ts';
import { writeArchive } from './archive-write.ts';
import { fileHeader, parseHeader } from './tar-blocks.ts';

let base: string;
let site: string;
const description: Description = {
  format: 'homeport-backup',
  version: 1,
  install_id: '0e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11',
  install_name: 'shop',
  primary_hostname: 'shop.example',
  wordpress_version: '6.8.7',
};

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'backups-'));
  site = join(base, 'site');
  mkdirSync(join(site, 'htdocs', 'deep', 'x'.repeat(120), 'y'.repeat(90)), { recursive: true });
  mkdirSync(join(site, 'private'));
  writeFileSync(join(site, 'htdocs', 'index.html'), 'hello');
  writeFileSync(join(site, 'htdocs', 'empty'), '');
  writeFileSync(join(site, 'htdocs', 'block'), randomBytes(512));
  writeFileSync(join(site, 'htdocs', 'large'), randomBytes(3_000_017));
  writeFileSync(join(site, 'htdocs', 'deep', 'x'.repeat(120), 'y'.repeat(90), 'größe'), 'long');
  writeFileSync(join(site, 'private', 'sparse'), 'x');
  truncateSync(join(site, 'private', 'sparse'), 50_000_000);
  symlinkSync('/etc/passwd', join(site, 'htdocs', 'link'));
  writeFileSync(join(base, 'dump.sql'), 'INSERT INTO …;\n'.repeat(10_000));
});
afterEach(() => rmSync(base, { recursive: true }));

async function write(files?: AsyncIterable<Buffer>) {
  const tar = spawn('tar', [
    '-c',
    '-f',
    '-',
    '--format=gnu',
    '--sparse',
    '--sort=name',
    '-C',
    site,
    'htdocs',
    'private',
  ]);
  const pieces: Buffer[] = [];
  const snapshot = await writeArchive(
    {
      description,
      dump: join(base, 'dump.sql'),
      files: files ?? tar.stdout,
      filesEnded: Promise.resolve(),
    },
    async (bytes) => {
      pieces.push(Buffer.from(bytes));
    },
  );
  tar.kill();
  return { archive: Buffer.concat(pieces), snapshot };
}

/** In pieces of that length. */
async function* cut(archive: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < archive.length; at += length) yield archive.subarray(at, at + length);
}

const read = (archive: Buffer, reader: ArchiveReader = {}, length = 65_536) =>
  readArchive(cut(archive, length), reader);

test('is read as it was written, however it is cut into pieces', async () => {
  const { archive, snapshot } = await write();
  expect(snapshot).toEqual({
    bytes: archive.length,
    files: 6,
    sha256: createHash('sha256').update(archive).digest('hex'),
  });
  for (const length of [archive.length, 65_536, 10_240, 1_000]) {
    const seen: Record<'dump' | 'files', Buffer[]> = { dump: [], files: [] };
    let told: Description | null = null;
    const result = await read(
      archive,
      {
        description: (value) => {
          told = value;
        },
        dump: async (bytes) => {
          seen.dump.push(Buffer.from(bytes));
        },
        files: async (bytes) => {
          seen.files.push(Buffer.from(bytes));
        },
      },
      length,
    );
    expect(result).toEqual(snapshot);
    expect(told).toEqual(description);
    expect(Buffer.concat(seen.dump).equals(readFileSync(join(base, 'dump.sql')))).toBe(true);
    const out = mkdtempSync(join(base, 'out-'));
    execFileSync('tar', ['-x', '-f', '-', '-C', out], { input: Buffer.concat(seen.files) });
    execFileSync('diff', ['-r', '--no-dereference', site, out]);
  }
});

test('any tar unpacks it', async () => {
  const { archive } = await write();
  const listed = execFileSync('tar', ['-t', '-f', '-'], { input: archive, encoding: 'utf8' }).split('\n');
  expect(listed.slice(0, 3)).toEqual(['homeport.json', 'database.sql', 'htdocs/']);
  expect(listed.slice(-2)).toEqual(['manifest.json', '']);
});

test('equal websites give equal archives', async () => {
  const [one, two] = [await write(), await write()];
  expect(one.archive.equals(two.archive)).toBe(true);
});

test('what is flipped, cut, added or no backup at all is found', async () => {
  const { archive, snapshot } = await write();
  expect(await read(archive)).toEqual(snapshot);
  for (const at of [
    0,
    130,
    600,
    1_100,
    200_000,
    archive.length - 4_000,
    archive.length - 1_500,
    archive.length - 1,
  ]) {
    const flipped = Buffer.from(archive);
    flipped.writeUInt8(archive.readUInt8(at) ^ 1, at);
    await expect(read(flipped), `${at}`).rejects.toThrow(DamagedBackupError);
  }
  for (const length of [0, 100, 512, 2_048, 150_000, archive.length - 2_048, archive.length - 512]) {
    await expect(read(archive.subarray(0, length)), `${length}`).rejects.toThrow(DamagedBackupError);
  }
  await expect(read(Buffer.concat([archive, Buffer.alloc(512)]))).rejects.toThrow(DamagedBackupError);
  await expect(read(randomBytes(100_000))).rejects.toThrow(DamagedBackupError);
  await expect(read(tailOf({ files: 0, bytes: 0, sha256: '0'.repeat(64) }))).rejects.toThrow(
    DamagedBackupError,
  );
});

test('a tar that breaks off, or is none, ends the writing', async () => {
  const whole = execFileSync('tar', ['-c', '-f', '-', '-C', site, 'htdocs/large'], { maxBuffer: 10_000_000 });
  await expect(write(cut(whole.subarray(0, 100_352), 4_096))).rejects.toThrow(/ended before/);
  await expect(write(cut(randomBytes(4_096), 4_096))).rejects.toThrow(/not a tar archive/);
});

test('sizes of more than 8 GiB are kept', () => {
  const size = 9 * 1024 ** 3 + 1;
  expect(parseHeader(fileHeader('database.sql', size))).toEqual({ name: 'database.sql', size, type: '0' });
  expect(parseHeader(fileHeader('a', 8 ** 11 - 1))?.size).toBe(8 ** 11 - 1);
});
