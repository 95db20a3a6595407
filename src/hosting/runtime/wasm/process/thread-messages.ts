import type { PhpProcessStart, PhpThreadSite, PhpWarmUp, ProgramBody } from '../process-protocol.ts';

/** What a thread starts with. */
export interface ThreadStart {
  module: WebAssembly.Module;
  /** Number of the thread, unique in its process. */
  thread: number;
  settings: PhpProcessStart;
  lockTable: SharedArrayBuffer;
  /** Two Int32: bytes of the ring that the process has not taken yet, and whether the visitor has left. */
  unread: SharedArrayBuffer;
  /** PHP's output on its way to the process. */
  ring: SharedArrayBuffer;
}

/** The start of a thread that runs one program. */
export interface ProgramStart extends ThreadStart {
  site: PhpThreadSite;
  program: ProgramBody;
}

export type ProgramStream = 'stdout' | 'stderr';

export type FromProgram =
  | { kind: 'temporary'; name: string }
  | { kind: 'output'; stream: ProgramStream; at: number; length: number }
  /** `crash`: the program ended without an exit code. */
  | { kind: 'end'; exit: number; crash: string | null; memory: number };

export interface PhpCall {
  id: number;
  method: string;
  target: string;
  headers: Record<string, string>;
  body: Uint8Array | null;
  https: boolean;
  client: string;
  /** PHP code to run in place of the file that `target` names. */
  code: string | null;
  /** Whether it may connect and send mail. */
  network: boolean;
}

export type ToThread = { warmUp: PhpWarmUp } | { site: PhpThreadSite } | { call: PhpCall };

export type FromThread =
  | { kind: 'ready'; version: string }
  /** `error`: why the thread cannot serve a website. */
  | { kind: 'warm'; error: string | null }
  | { kind: 'serving' }
  /** PHP has created a file that it removes at the end of the call. */
  | { kind: 'temporary'; name: string }
  | { kind: 'head'; id: number; status: number; headers: [name: string, value: string][] }
  | { kind: 'output'; id: number; at: number; length: number }
  /** `memory`: bytes that the thread holds. `crash`: the thread cannot go on. */
  | { kind: 'end'; id: number; exit: number; error: string; memory: number; crash: string | null };
