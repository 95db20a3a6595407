import { type EmscriptenRuntime, ERRNO } from './emscripten.ts';
import { createOutputRing } from './output-ring.ts';
import type { FromThread } from './thread-messages.ts';

/** The platform takes no longer one. */
const LONGEST_HEAD = 64 * 1024;
/** Of `php://stderr`. The rest is dropped, because nothing makes PHP wait there. */
const LONGEST_ERROR = 64 * 1024;

/** Where PHP's head and output of the current request go. */
export interface PhpOutput {
  begin(id: number): void;
  /** Sends the head of an answer without a body. Returns what PHP wrote to `php://stderr`. */
  finish(): string;
}

interface Parts {
  runtime: EmscriptenRuntime;
  ring: SharedArrayBuffer;
  unread: SharedArrayBuffer;
  send(message: FromThread): void;
}

/**
 * Sends PHP's output to the process as it is written. PHP waits while the ring is full, as it would for a socket; otherwise endless
 * output would fill the memory.
 */
export function createPhpOutput({ runtime, ring, unread, send }: Parts): PhpOutput {
  const counter = new Int32Array(unread);
  const { ErrnoError } = runtime.FS;
  let isRefused = false;

  /**
   * Whether the visitor has left. The first output after that fails, so that PHP ends its script, unless the script ignores it: then PHP
   * would try that output for ever.
   */
  function hasLeft(): boolean {
    if (Atomics.load(counter, 1) === 0) return false;
    if (isRefused) return true;
    isRefused = true;
    throw new ErrnoError(ERRNO.EPIPE);
  }

  const written = createOutputRing(ring, unread, hasLeft);
  let current: number | null = null;
  let head: Uint8Array[] = [];
  let headBytes = 0;
  let errors: Uint8Array[] = [];
  let errorBytes = 0;

  function sendHead(): void {
    if (current === null || head.length === 0) return;
    const { status, headers } = parsedHead(Buffer.concat(head).toString('utf8'));
    head = [];
    headBytes = 0;
    send({ kind: 'head', id: current, status, headers });
  }

  function write(chunk: Uint8Array): void {
    if (current === null || chunk.length === 0) return;
    if (hasLeft()) return;
    sendHead();
    const id = current;
    written.write(chunk, (at, length) => send({ kind: 'output', id, at, length }));
  }

  intercept(runtime, 'onHeaders', (chunk) => {
    headBytes += chunk.length;
    // Without the rest it is no JSON, which makes it a failure.
    if (headBytes <= LONGEST_HEAD) head.push(Uint8Array.from(chunk));
  });
  intercept(runtime, 'onStdout', (chunk) => write(unsigned(chunk)));
  intercept(runtime, 'onStderr', (chunk) => {
    const kept = Uint8Array.from(unsigned(chunk).subarray(0, LONGEST_ERROR - errorBytes));
    errorBytes += kept.length;
    if (kept.length > 0) errors.push(kept);
  });

  return {
    begin(id) {
      current = id;
      isRefused = false;
      head = [];
      headBytes = 0;
      errors = [];
      errorBytes = 0;
    },
    finish() {
      sendHead();
      current = null;
      return Buffer.concat(errors).toString('utf8');
    },
  };
}

/** Chunks of output are Int8Arrays. */
export function unsigned(chunk: Uint8Array | Int8Array): Uint8Array {
  return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

/** Takes what PHP gives to a callback of the program. The class PHP sets these for each request to streams without any limit. */
export function intercept(
  runtime: EmscriptenRuntime,
  name: string,
  listener: (chunk: Uint8Array | Int8Array) => void,
): void {
  Object.defineProperty(runtime, name, { get: () => listener, set() {} });
}

/** Reads the head that PHP gives: JSON, with lines of the header. */
function parsedHead(text: string): { status: number; headers: [name: string, value: string][] } {
  try {
    const { status, headers }: { status: number; headers: string[] } = JSON.parse(text);
    return {
      status,
      headers: headers.flatMap((line) => {
        const colon = line.indexOf(': ');
        // PHP's status line, and empty headers.
        return colon < 1 ? [] : [[line.slice(0, colon).toLowerCase(), line.slice(colon + 2)]];
      }),
    };
  } catch {
    return { status: 500, headers: [] };
  }
}
