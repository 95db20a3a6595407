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

/** A thread that ends a call when it gets a message. */
const ANSWERING = `${STARTING}
  let call;
  parentPort.on('message', (message) => {
    if ('call' in message) call = message.call;
    if ('end' in message) parentPort.postMessage({ kind: 'end', id: call.id, exit: 0, error: '', crash: null, memory: 0 });
  });`;
const REQUEST = {
  target: '/',
  method: 'GET',
  headers: {},
  https: false,
  client: '',
  body: null,
  code: null,
  network: true,
};
const UNHEARD = { head() {}, output() {}, end() {}, fail() {} };

let folder: string;
let made: Worker[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'threads-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

async function threadsOf(sources: [string, string], limits: { threads: number; waitMs: number }) {
  const wasm = join(folder, 'php.wasm');
  await writeFile(wasm, Buffer.from('\0asm\x01\0\0\0', 'latin1'));
  const lines: string[] = [];
  made = [];
  const threads = createPhpThreads(
    { memoryMb: 1, uploadMb: 1, inputVars: 1, threadMb: 1 },
    wasm,
    (line) => lines.push(line),
    () => {
      const worker = new Worker(sources[made.length === 0 ? 0 : 1], { eval: true });
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
    ...limits,
    bodyBytes: 1,
    closedPrograms: '',
    listen: '',
    services: '',
  });
  return { threads, lines };
}

it('pauses after a thread that could not start', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { threads, lines } = await threadsOf([STARTING, FAILING], { threads: 2, waitMs: 60_000 });
  for (const _ of [1, 2]) threads.call(REQUEST, 60, UNHEARD);
  const [first, second] = made;
  await new Promise((resolve) => second?.once('exit', resolve));
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect(lines).toEqual(['a thread ended: no memory']);
  expect(made).toHaveLength(2);
  vi.advanceTimersByTime(1_000);
  expect(made).toHaveLength(3);
  await first?.terminate();
});

it('lets requests of a starting website wait for its first answer, and limits the wait of later ones', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { threads } = await threadsOf([ANSWERING, FAILING], { threads: 1, waitMs: 20_000 });
  const heard: string[] = [];
  const call = (name: string) =>
    new Promise<void>((resolve) => {
      const hear = (outcome: string) => {
        heard.push(`${name} ${outcome}`);
        resolve();
      };
      threads.call(REQUEST, 60, { ...UNHEARD, end: () => hear('ends'), fail: (reason) => hear(reason) });
    });
  const first = call('first');
  const second = call('second');
  const third = call('third');
  vi.advanceTimersByTime(50_000);
  made[0]?.postMessage({ end: true });
  await first;
  vi.advanceTimersByTime(20_000);
  await third;
  made[0]?.postMessage({ end: true });
  await second;
  expect(heard).toEqual(['first ends', 'third busy', 'second ends']);
  await made[0]?.terminate();
});
