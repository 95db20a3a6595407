import type { RunningProgram } from '../../../lib/started-program.ts';
import type { Chunk, Contents, IndexedEntry, Span } from '../../websites/backup-contents/contents-file.ts';
import { sparseWriter } from '../../websites/backup-contents/sparse-content.ts';
import type { Restic } from './restic.ts';
import { damage } from './snapshot-read.ts';
import { BLOCK_BYTES, inBlocks } from './tar-blocks.ts';
import { readTarEntries } from './tar-entries.ts';

/** A backup in a repository, with its index. */
export interface IndexedBackup {
  restic: Restic;
  snapshotId: string;
  contents: Contents;
}

/** Pieces that are fetched one by one; restic takes 0.2 s for each. With more, it reads the whole backup. */
const MOST_SINGLE = 64;

/** Sorts spans and joins those that touch or overlap. */
export function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const { place, length } of [...spans].sort((a, b) => a.place - b.place)) {
    const last = result.at(-1);
    if (last !== undefined && place <= last.place + last.length) {
      last.length = Math.max(last.length, place + length - last.place);
    } else result.push({ place, length });
  }
  return result;
}

/**
 * Yields parts of a backup, in order and one after the other. restic verifies every piece. Only the pieces that hold them are read,
 * if those are few. Rejects with a `DamagedBackupError` if the repository cannot return them.
 */
export async function* readSpans(
  { restic, snapshotId, contents }: IndexedBackup,
  spans: readonly Span[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const wanted = joined(spans);
  const pieces = wanted.map((span) => contents.chunksOf(span));
  const needed = new Set(pieces.flat().map(({ id }) => id));
  const isKnown = pieces.every((chunks) => chunks.length > 0);
  if (!isKnown || needed.size > MOST_SINGLE) {
    yield* cut(withStop(restic.read(snapshotId), signal), wanted);
    return;
  }
  let last: FetchedBlob = { id: '', bytes: Buffer.alloc(0) };
  for (const [index, { place, length }] of wanted.entries()) {
    for (const { id, start } of pieces[index] ?? []) {
      last = last.id === id ? last : await blobOf(restic, { id, start }, signal);
      const part = last.bytes.subarray(Math.max(0, place - start), Math.max(0, place + length - start));
      if (part.length > 0) yield part;
    }
  }
}

interface FetchedBlob {
  id: string;
  bytes: Buffer;
}

async function blobOf(restic: Restic, { id }: Chunk, signal: AbortSignal | undefined): Promise<FetchedBlob> {
  const bytes: Buffer[] = [];
  for await (const piece of withStop(restic.readBlob(id), signal)) bytes.push(piece);
  return { id, bytes: Buffer.concat(bytes) };
}

/** The output of restic. Stops restic if the reader ends early. */
async function* withStop(program: RunningProgram, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const stop = () => void program.stop();
  signal?.addEventListener('abort', stop);
  program.stdin.end();
  let isRead = false;
  try {
    for await (const piece of program.stdout) yield piece;
    isRead = true;
    await program.ended;
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof Error ? damage(error) : error;
  } finally {
    signal?.removeEventListener('abort', stop);
    if (!isRead) await program.stop();
  }
}

async function* cut(archive: AsyncIterable<Buffer>, spans: readonly Span[]): AsyncGenerator<Buffer> {
  const end = spans.at(-1);
  let position = 0;
  for await (const bytes of archive) {
    for (const { place, length } of spans) {
      const part = bytes.subarray(Math.max(0, place - position), Math.max(0, place + length - position));
      if (part.length > 0) yield part;
    }
    position += bytes.length;
    if (end === undefined || position >= end.place + end.length) return;
  }
}

/** Passes the content of a file to `write`, with the zeros of its holes. */
export async function extractFile(
  backup: IndexedBackup,
  entry: IndexedEntry,
  write: (bytes: Buffer) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const source = entry.sameAs === undefined ? entry : backup.contents.find(entry.sameAs);
  if (source === null) throw new Error(`the backup lacks the content of ${entry.path}`);
  let file: ReturnType<typeof sparseWriter> | null = null;
  const reader = readTarEntries(source.place, {
    entry(found) {
      file = sparseWriter(found.parts ?? [{ offset: 0, length: found.bytes ?? 0 }], found.bytes ?? 0, write);
    },
    content: async (bytes) => file?.write(bytes),
  });
  for await (const blocks of inBlocks(readSpans(backup, [source], signal))) {
    // The rest that is no block is nothing that tar wrote.
    if (blocks.length % BLOCK_BYTES === 0) await reader.push(blocks);
  }
  await finished(file);
}

const finished = async (file: { end(): Promise<void> } | null) => file?.end();
