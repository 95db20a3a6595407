import type { InstallLimits } from '../../../contract/install-limits.ts';
import type { CaptureOptions } from './capture.ts';
import type { FileToTake } from './taken-files.ts';
import type { FileToWrite } from './written-files.ts';

/** Before all calls: the store that they are of. It gets no reply. */
export interface StoreOpening {
  op: 'open';
  folder: string;
}

/** Calls of the thread of a store. `chunks` are encoded by chunk-list.ts. */
export type StoreCall =
  /** Stores small files, which follow each other in `bytes`. Answers their chunks. */
  | { op: 'add'; bytes: Uint8Array; lengths: number[] }
  /** Answers what a folder has, as JSON. */
  | { op: 'measure'; folder: string; limits: InstallLimits }
  /** Stores the first files of a list. Answers what it took of each, as JSON. */
  | { op: 'take'; files: readonly FileToTake[]; seenMs: number }
  | { op: 'push'; bytes: Uint8Array; isDatabase: boolean }
  /** Answers the chunks of the file that was pushed. */
  | { op: 'end' }
  /** Answers the number of stored bytes. */
  | { op: 'finish' }
  /** Answers the number of missing chunks. */
  | { op: 'check'; manifest: string; isThorough: boolean }
  /** Answers the contents. */
  | { op: 'read'; chunks: Uint8Array }
  | { op: 'write'; files: FileToWrite[]; sync: boolean }
  /** Answers the damaged manifests, as JSON. */
  | { op: 'prune'; manifests: string[]; mayRewrite: boolean }
  /** Answers the packs that are used, as JSON. */
  | { op: 'used' }
  /** Answers the number of damaged backups. */
  | ({ op: 'capture' } & CaptureOptions)
  /** The thread waits for the next store. */
  | { op: 'close' };

export interface StoreAnswer {
  bytes: Uint8Array<ArrayBuffer>;
  count: number;
}

/** An error of the thread. Structured clones of errors lose their properties. */
export interface StoreFailure {
  message: string;
  /** A pack or manifest is damaged. */
  isDamage: boolean;
  stack: string;
  /** Of a failed system call. */
  code?: string;
}

export type StoreReply = { answer: StoreAnswer } | { failure: StoreFailure };

export const isReply = (value: unknown): value is StoreReply =>
  typeof value === 'object' && value !== null && ('answer' in value || 'failure' in value);
