import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPhpThreads } from './php-threads.ts';

const made: EventEmitter[] = [];
vi.mock('node:worker_threads', () => ({
  Worker: class extends EventEmitter {
    constructor() {
      super();
      made.push(this);
      setImmediate(() => {
        if (made.length === 1) this.emit('message', { kind: 'ready', version: '8.4.1' });
        else this.emit('error', new Error('no memory'));
      });
    }
    postMessage(message: object): void {
      if ('site' in message) setImmediate(() => this.emit('message', { kind: 'serving' }));
    }
  },
}));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'threads-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

it('pauses after a thread that could not start', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const wasm = join(folder, 'php.wasm');
  await writeFile(wasm, Buffer.from('\0asm\x01\0\0\0', 'latin1'));
  const lines: string[] = [];
  const threads = createPhpThreads({ memoryMb: 1, uploadMb: 1, threadMb: 1 }, wasm, (line) =>
    lines.push(line),
  );
  expect(await threads.begin()).toBe('8.4.1');
  const folders = { core: folder, website: folder, private: folder, database: folder, readOnly: [] };
  await threads.serve({
    folders,
    prepend: '',
    seconds: 60,
    threads: 2,
    waitMs: 60_000,
    bodyBytes: 1,
    closedPrograms: '',
    listen: '',
    services: '',
  });
  const call = () =>
    threads.call(
      { target: '/', method: 'GET', headers: {}, https: false, client: '', body: null, code: null },
      60,
      { head() {}, output() {}, end() {}, fail() {} },
    );
  call();
  call();
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect(lines).toEqual(['a thread ended: no memory']);
  vi.advanceTimersByTime(1_000);
  await vi.waitFor(() => expect(lines).toHaveLength(2));
});
