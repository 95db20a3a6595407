import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  openSync,
  writeSync,
} from 'node:fs';
import { quoted } from '../../../websites/backup-contents/archive-names.ts';
import { piecesToWrite } from '../file-content.ts';
import { areInside, type DataPart, dataBytes } from '../sparse-file.ts';
import { type ChunkRef, listedChunks } from './chunk-list.ts';
import { DamagedListError } from './manifest-chunks.ts';

/** A new file with content of a store. */
export interface FileToWrite {
  path: Uint8Array;
  /** Its chunks, as a manifest lists them. */
  chunks: string;
  size: number;
  /** The parts that the chunks hold. The rest are holes. */
  parts: readonly DataPart[];
  mode: number;
  modifiedSeconds: number;
}

/** Writes a file that does not exist: an earlier entry of that name may be a link. `sync`: makes it durable. */
export function writeFile(
  { path, chunks, size, parts, mode, modifiedSeconds }: FileToWrite,
  read: (chunk: ChunkRef) => Buffer,
  sync: boolean,
): void {
  const listed = listedChunks(chunks);
  const bytes = listed?.reduce((sum, { length }) => sum + length, 0);
  if (listed === null || !areInside(parts, size) || bytes !== dataBytes(parts)) {
    throw new DamagedListError(`the size of ${quoted(Buffer.from(path))} differs from its manifest`);
  }
  const file = openSync(Buffer.from(path), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const placed = piecesToWrite(parts);
    let end = 0;
    for (const chunk of listed) {
      for (const { at, bytes } of placed(read(chunk))) {
        writeWhole(file, bytes, at);
        end = at + bytes.length;
      }
    }
    if (end < size) ftruncateSync(file, size);
    fchmodSync(file, mode);
    futimesSync(file, modifiedSeconds, modifiedSeconds);
    if (sync) fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function writeWhole(file: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
}
