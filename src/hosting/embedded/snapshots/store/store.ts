import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import type { InstallLimits, InstallUsage } from '../../../contract/install-limits.ts';
import type { CaptureOptions } from './capture.ts';
import { type ChunkRef, decodeChunks, encodeChunks } from './chunk-list.ts';
import type { UsedPack } from './chunk-store.ts';
import type { DamagedManifest } from './prune.ts';
import type { StoreAnswer, StoreCall, StoreOpening } from './store-calls.ts';
import { giveBack, takeThread } from './store-threads.ts';
import type { FileToTake, Taken } from './taken-files.ts';
import type { FileToWrite } from './written-files.ts';

/**
 * The chunks of all backups of one install, in a separate thread: see chunk-store.ts. Calls are done in order. Errors:
 * those of store-threads.ts. After an error of a change, only `close` may be called.
 */
export interface Store {
  /** Stores small files whole. */
  add(contents: readonly Buffer[]): Promise<ChunkRef[]>;
  /** See measure-folder.ts. */
  measure(folder: string, limits: InstallLimits): Promise<InstallUsage | null>;
  /** Reads and stores files of a website, the first of a list: see taken-files.ts. `seenMs`: the present time. */
  take(files: readonly FileToTake[], seenMs: number): Promise<Taken[]>;
  /** Takes over the next bytes of a large file. Resolves once the thread has them. */
  push(bytes: Buffer, isDatabase: boolean): Promise<void>;
  end(): Promise<ChunkRef[]>;
  finish(): Promise<number>;
  check(manifest: string, isThorough: boolean): Promise<number>;
  read(chunks: readonly ChunkRef[]): Promise<Buffer>;
  /** Writes contents into new files. */
  writeFiles(files: FileToWrite[], sync: boolean): Promise<void>;
  /** See prune.ts. Returns the damaged manifests. */
  prune(manifests: string[], mayRewrite: boolean): Promise<DamagedManifest[]>;
  /** The packs with chunks that were added, whether they were new or not. */
  usedPacks(): Promise<UsedPack[]>;
  /** Captures backups in new folders: see capture.ts. Returns how many of them are damaged. */
  capture(options: CaptureOptions): Promise<number>;
  /** Ends its calls at once. */
  close(): Promise<void>;
}

const Usage = Type.Union([Type.Null(), Type.Object({ bytes: Type.Integer(), files: Type.Integer() })]);

const UsedPacks = Type.Array(
  Type.Object({ name: Type.String(), chunks: Type.Integer(), usedBytes: Type.Integer() }),
);

const TakenFiles = Compile(
  Type.Array(
    Type.Union([
      Type.Null(),
      Type.Literal('same'),
      Type.Object({
        mode: Type.Integer(),
        mtime_ns: Type.String(),
        size: Type.Integer(),
        state: Type.Union([Type.String(), Type.Null()]),
        chunks: Type.String(),
      }),
    ]),
  ),
);

const DamagedManifests = Type.Array(Type.Object({ manifest: Type.String(), reason: Type.String() }));

const parsed = <Schema extends TSchema>(schema: Schema, { bytes }: StoreAnswer): Static<Schema> =>
  Value.Parse(schema, JSON.parse(Buffer.from(bytes).toString()));

export function openStore(folder: string): Store {
  const thread = takeThread();
  thread.worker.postMessage({ op: 'open', folder } satisfies StoreOpening);
  let closing: Promise<void> | null = null;

  function call(message: StoreCall, moved: readonly ArrayBuffer[] = []): Promise<StoreAnswer> {
    if (closing !== null) return Promise.reject(new Error('the store was closed'));
    return thread.call(message, moved);
  }

  async function chunksBy(message: StoreCall, moved?: ArrayBuffer[]): Promise<ChunkRef[]> {
    return decodeChunks(Buffer.from((await call(message, moved)).bytes));
  }

  return {
    add(contents) {
      const lengths = contents.map(({ length }) => length);
      const bytes = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0));
      let at = 0;
      for (const content of contents) at += content.copy(bytes, at);
      return chunksBy({ op: 'add', bytes, lengths }, [bytes.buffer]);
    },
    measure: async (of, limits) => parsed(Usage, await call({ op: 'measure', folder: of, limits })),
    take: async (files, seenMs) => {
      const { bytes } = await call({ op: 'take', files, seenMs });
      return TakenFiles.Parse(JSON.parse(Buffer.from(bytes).toString()));
    },
    async push(given, isDatabase) {
      const bytes = given.byteLength === given.buffer.byteLength ? given : ownCopy(given);
      await call(
        { op: 'push', bytes, isDatabase },
        bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [],
      );
    },
    end: () => chunksBy({ op: 'end' }),
    finish: async () => (await call({ op: 'finish' })).count,
    check: async (manifest, isThorough) => (await call({ op: 'check', manifest, isThorough })).count,
    read: async (chunks) =>
      Buffer.from((await call({ op: 'read', chunks: encodeChunks(chunks) })).bytes.buffer),
    async writeFiles(files, sync) {
      await call({ op: 'write', files, sync });
    },
    async prune(manifests, mayRewrite) {
      return parsed(DamagedManifests, await call({ op: 'prune', manifests, mayRewrite }));
    },
    usedPacks: async () => parsed(UsedPacks, await call({ op: 'used' })),
    capture: async (options) => (await call({ op: 'capture', ...options })).count,
    close() {
      closing ??= giveBack(thread);
      return closing;
    },
  };
}

/** Small buffers are views of a shared one, which cannot be passed on. */
function ownCopy(bytes: Buffer): Buffer<ArrayBuffer> {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
