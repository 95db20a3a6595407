import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { constants, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Clock } from '../../lib/clock.ts';
import { syncFolder } from '../../lib/durable-file.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { hasCode } from '../../lib/error-code.ts';
import { parseUuid } from '../../lib/ids.ts';
import { ifThere } from '../../lib/if-there.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { MOST_READ_BYTES, type PackedArchive } from '../contract/snapshots.ts';

/** Archives for download: `<folder>/<install id>/<archive id>.tar.gz`, on either host. */
export interface PackedArchives {
  /** Compresses what `fill` writes. The archive exists once this resolves, whole or not at all. */
  pack(
    installId: string,
    archiveId: string,
    fill: (write: (bytes: Buffer) => Promise<void>) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<PackedArchive>;
  /** See `Host.readPacked`. */
  read(installId: string, archiveId: string, part: { offset: number; length: number }): Promise<Buffer>;
  /** See `Host.discardPacked`. */
  discard(installId: string, archiveId: string): Promise<void>;
  /** Deletes all archives of an install. */
  removeAll(installId: string): Promise<void>;
}

export interface PackedArchivesOptions {
  folder: string;
  clock: Clock;
  /** The largest archive, in bytes. */
  mostBytes?: number;
  /** Free space of the disk that an archive must leave, in bytes. Default: 1 GiB and 5 % of the disk. */
  spareBytes?: number;
}

const GIB = 1024 ** 3;
const MOST_BYTES = 100 * GIB;
/** Disk space is checked each time that so many bytes were written. */
const CHECK_BYTES = 64 * 1024 ** 2;
/** Most data is compressed already. */
const GZIP_LEVEL = 3;
/** The control plane deletes archives after a day. Older ones are of installs that it no longer knows. */
const STALE_MS = 3 * DAY_MS;

export function createPackedArchives({
  folder,
  clock,
  mostBytes = MOST_BYTES,
  spareBytes,
}: PackedArchivesOptions): PackedArchives {
  const folderOf = (installId: string) => join(folder, canonicalId(installId));
  const fileOf = (installId: string, archiveId: string) =>
    join(folderOf(installId), `${canonicalId(archiveId)}.tar.gz`);

  async function requireRoom(): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(folder);
    const spare = spareBytes ?? Math.max(GIB, (blocks * bsize) / 20);
    if (bavail * bsize >= spare) return;
    throw new PermanentHostError('The disk has too little free space for the archive. Try again later.');
  }

  /** Counts and hashes what passes, and stops at the limits. */
  function meter(): { stream: Transform; total(): PackedArchive } {
    const hash = createHash('sha256');
    let bytes = 0;
    let checked = 0;
    async function account(chunk: Buffer): Promise<void> {
      bytes += chunk.length;
      hash.update(chunk);
      if (bytes > mostBytes) {
        throw new PermanentHostError(`The archive would be larger than ${mostBytes} bytes, the limit.`);
      }
      if (bytes - checked < CHECK_BYTES) return;
      checked = bytes;
      await requireRoom();
    }
    const stream = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        account(chunk).then(() => done(null, chunk), done);
      },
    });
    return { stream, total: () => ({ bytes, sha256: hash.digest('hex') }) };
  }

  async function removeStale(): Promise<void> {
    for (const install of await readdir(folder)) {
      for (const name of (await ifThere(readdir(join(folder, install)))) ?? []) {
        const file = join(folder, install, name);
        const stats = await ifThere(stat(file));
        if (stats !== null && clock.now().getTime() - stats.mtimeMs > STALE_MS)
          await rm(file, { force: true });
      }
    }
  }

  return {
    async pack(installId, archiveId, fill, signal) {
      const place = fileOf(installId, archiveId);
      const part = `${place}.part`;
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
      await removeStale();
      await requireRoom();
      await rm(part, { force: true });
      const gzip = createGzip({ level: GZIP_LEVEL, chunkSize: 256 * 1024 });
      const { stream, total } = meter();
      const written = pipeline(
        gzip,
        stream,
        createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true }),
        { signal },
      );
      // If it fails, that is the cause of every other failure.
      const failure = written.then(
        () => null,
        (error: unknown) => ({ error }),
      );
      try {
        try {
          await fill(async (bytes) => {
            if (gzip.destroyed) throw new Error('the archive cannot be written');
            if (!gzip.write(bytes)) await Promise.race([once(gzip, 'drain'), written]);
          });
        } catch (error) {
          gzip.destroy(error instanceof Error ? error : new Error(String(error)));
          throw error;
        }
        gzip.end();
        await written;
        await rename(part, place);
        await syncFolder(dirname(place));
        return total();
      } catch (error) {
        const cause = await failure;
        await rm(part, { force: true });
        signal?.throwIfAborted();
        throw cause?.error ?? error;
      }
    },

    async read(installId, archiveId, { offset, length }) {
      const file = await open(fileOf(installId, archiveId), constants.O_RDONLY | constants.O_NOFOLLOW).catch(
        (error: unknown) => {
          if (!hasCode(error, 'ENOENT')) throw error;
          throw new PermanentHostError('The archive no longer exists. Make a new one.', { cause: error });
        },
      );
      try {
        const buffer = Buffer.allocUnsafe(Math.min(length, MOST_READ_BYTES));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },

    async discard(installId, archiveId) {
      const place = fileOf(installId, archiveId);
      for (const file of [place, `${place}.part`]) await rm(file, { force: true });
    },

    removeAll: (installId) => rm(folderOf(installId), { recursive: true, force: true }),
  };
}

/** Ids become names of files, so only UUIDs are accepted. */
function canonicalId(id: string): string {
  if (parseUuid(id) !== id) throw new PermanentHostError(`${JSON.stringify(id)} is not a lower-case UUID.`);
  return id;
}
