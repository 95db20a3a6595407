import { createIsolatedProcess, type IsolatedProcess } from './isolated-process.ts';

/**
 * The child process that reads untrusted certificates and connects to untrusted servers, one for the whole platform. Its tasks wait for the
 * network and compute for milliseconds only. Tasks that read large files belong in another one.
 */
export const strangersProcess: IsolatedProcess = createIsolatedProcess({
  memoryMb: 256,
  // A connection has its own, shorter limit.
  limitMs: 30_000,
  maxBytes: 4 * 1024 * 1024,
  concurrency: 64,
});
