import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPhpThreads } from './php-threads.ts';

/** A thread without memory for PHP. */
const FAILING = `throw new Error('no memory')`;
/** A thread that starts, and takes its website. */
const STARTING = `
  const { parentPort } = require('node:worker_threads');
  parentPort.postMessage({ kind: 'ready', version: '8.4.1' });
  parentPort.on('message', (message) => 'site' in message && parentPort.postMessage({ kind: 'serving' }));`;

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
  const made: Worker[] = [];
  const threads = createPhpThreads(
    { memoryMb: 1, uploadMb: 1, inputVars: 1, threadMb: 1 },
    wasm,
    (line) => lines.push(line),
    () => {
      const worker = new Worker(made.length === 0 ? STARTING : FAILING, { eval: true });
      made.push(worker);
      return worker;
    },
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
      {
        target: '/',
        method: 'GET',
        headers: {},
        https: false,
        client: '',
        body: null,
        code: null,
        network: true,
      },
      60,
      { head() {}, output() {}, end() {}, fail() {} },
    );
  call();
  call();
  const [first, second] = made;
  await new Promise((resolve) => second?.once('exit', resolve));
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect(lines).toEqual(['a thread ended: no memory']);
  expect(made).toHaveLength(2);
  vi.advanceTimersByTime(1_000);
  expect(made).toHaveLength(3);
  await first?.terminate();
});
