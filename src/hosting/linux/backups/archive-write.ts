import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Snapshot } from '../../contract/snapshots.ts';
import {
  DESCRIPTION_NAME,
  type Description,
  DUMP_NAME,
  KEPT_NAME,
  MOST_KEPT_BYTES,
  member,
  tailOf,
} from './archive-manifest.ts';
import { fileHeader, inBlocks, padding, walkTar } from './tar-blocks.ts';

export interface ArchiveParts {
  description: Description;
  /** Path of the database dump. */
  dump: string;
  /** `kept.list`, in latin1, for an archive of changes. */
  kept?: string | undefined;
  /** tar's output for the website's files, including its end. */
  files: AsyncIterable<Buffer>;
  /** Resolves if tar succeeded. The end of the archive is written only after that. */
  filesEnded: Promise<unknown>;
}

const READ_BYTES = 1024 * 1024;

/** Writes a backup (archive-manifest.ts) in pieces to `write`, and returns its totals. */
export async function writeArchive(
  parts: ArchiveParts,
  write: (bytes: Buffer) => Promise<void>,
): Promise<Snapshot> {
  const hash = createHash('sha256');
  let bytes = 0;
  async function put(piece: Buffer): Promise<void> {
    hash.update(piece);
    bytes += piece.length;
    await write(piece);
  }

  await put(member(DESCRIPTION_NAME, JSON.stringify(parts.description)));
  await putDump(parts.dump, put);
  if (parts.kept !== undefined) await putKept(parts.kept, put);
  const walk = walkTar();
  for await (const blocks of inBlocks(parts.files)) {
    const before = walk.push(blocks);
    if (before > 0) await put(blocks.subarray(0, before));
  }
  await parts.filesEnded;
  if (!walk.hasEnded()) throw new Error('tar ended before its archive did');

  const tail = tailOf({ files: walk.files(), bytes, sha256: hash.copy().digest('hex') });
  await put(tail);
  return { bytes, files: walk.files(), sha256: hash.digest('hex') };
}

async function putKept(kept: string, put: (bytes: Buffer) => Promise<void>): Promise<void> {
  const content = Buffer.from(kept, 'latin1');
  if (content.length > MOST_KEPT_BYTES) throw new Error('the website has too many files to copy its changes');
  await put(fileHeader(KEPT_NAME, content.length));
  if (content.length > 0) await put(content);
  await put(padding(content.length));
}

async function putDump(path: string, put: (bytes: Buffer) => Promise<void>): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    await put(fileHeader(DUMP_NAME, size));
    for (let left = size; left > 0; ) {
      const buffer = Buffer.allocUnsafe(Math.min(left, READ_BYTES));
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) throw new Error('the database dump shrank while it was read');
      left -= bytesRead;
      await put(buffer.subarray(0, bytesRead));
    }
    await put(padding(size));
  } finally {
    await file.close();
  }
}
