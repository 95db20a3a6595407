import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { createRequestQueue, type RequestQueue } from './sftp-queue.ts';

const MIB = 1024 * 1024;

let queue: RequestQueue;
let backlog: number;
let isHeld: boolean;
let overflows: number;
/** Started requests, and how to end them. */
let begun: { name: string; end: () => void }[];

beforeEach(() => {
  backlog = 0;
  isHeld = false;
  overflows = 0;
  begun = [];
  queue = createRequestQueue({
    backlog: () => backlog,
    hold: (held) => {
      isHeld = held;
    },
    overflow: () => {
      overflows += 1;
    },
  });
});

function add(name: string, bytes = 0): void {
  queue.add(bytes, () => new Promise((resolve) => begun.push({ name, end: resolve })));
}

async function endLast(): Promise<void> {
  begun.at(-1)?.end();
  await turn();
}

function names(): string[] {
  return begun.map(({ name }) => name);
}

test('requests run one after the other, in order', async () => {
  for (const name of ['a', 'b', 'c']) add(name);
  expect(names()).toEqual(['a']);
  await endLast();
  expect(names()).toEqual(['a', 'b']);
  await endLast();
  await endLast();
  expect(names()).toEqual(['a', 'b', 'c']);
  add('d');
  expect(names()).toEqual(['a', 'b', 'c', 'd']);
});

test('a client that writes faster than the disk is paused until the backlog shrinks', async () => {
  for (let i = 0; i < 4; i++) add(`${i}`, MIB);
  expect(isHeld).toBe(false);
  add('4', MIB);
  expect(isHeld).toBe(true);
  await endLast();
  expect(isHeld).toBe(false);
});

test('while responses wait to be sent, no request runs, but the connection is read', async () => {
  add('first');
  backlog = 5 * MIB;
  for (let i = 0; i < 6; i++) add(`${i}`, MIB);
  expect(isHeld).toBe(false);
  await endLast();
  expect(names()).toEqual(['first']);
  queue.wake();
  expect(names()).toEqual(['first']);
  backlog = MIB;
  queue.wake();
  expect(names()).toEqual(['first', '0']);
  expect(isHeld).toBe(true);
});

test.each([
  ['requests', 9_000, 0],
  ['bytes', 40, MIB],
])('too many %s end the session, once', async (_what, count, bytes) => {
  for (let i = 0; i < count; i++) add(`${i}`, bytes);
  expect(overflows).toBe(1);
  expect(isHeld).toBe(false);
  await endLast();
  expect(names()).toEqual(['0']);
});

test('stopping drops waiting requests and waits for the running one', async () => {
  add('a', 5 * MIB);
  add('b');
  let isStopped = false;
  const stopping = queue.stop().then(() => {
    isStopped = true;
  });
  await turn();
  expect(isStopped).toBe(false);
  expect(isHeld).toBe(false);
  await endLast();
  await stopping;
  add('c');
  expect(names()).toEqual(['a']);
});
