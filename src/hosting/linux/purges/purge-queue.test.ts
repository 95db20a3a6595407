import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import type { Pages } from './purge-message.ts';
import { createPurgeQueue, type PurgeQueue } from './purge-queue.ts';

let queue: PurgeQueue;
let purged: [string, Pages][];
let waits: { milliseconds: number; end(): void }[];
let fails: boolean;

beforeEach(() => {
  purged = [];
  waits = [];
  fails = false;
  queue = createPurgeQueue({
    web: { purge: (id) => purge(id, 'everything'), purgePages: purge },
    wait: (milliseconds) => new Promise((end) => void waits.push({ milliseconds, end })),
    log: pino({ level: 'silent' }),
  });
});

async function purge(id: string, pages: Pages): Promise<void> {
  if (fails) throw new Error('nginx does not answer');
  purged.push([id, pages]);
}

/** Ends the current pause of an install, and waits until the next begins or the work is over. */
async function endPause(): Promise<number | undefined> {
  const wait = waits.shift();
  wait?.end();
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return wait?.milliseconds;
}

test('purges at once, and merges what follows into one purge', async () => {
  await queue.ask('shop', ['/a']);
  expect(purged).toEqual([['shop', ['/a']]]);
  await queue.ask('shop', ['/b', '/c']);
  await queue.ask('shop', ['/c', '/d']);
  await queue.ask('blog', 'everything');
  expect(purged).toEqual([
    ['shop', ['/a']],
    ['blog', 'everything'],
  ]);
  expect(await endPause()).toBe(250);
  expect(purged.slice(2)).toEqual([['shop', ['/b', '/c', '/d']]]);
});

test('keeps nothing once a pause ends without a message', async () => {
  await queue.ask('shop', ['/a']);
  await endPause();
  expect(waits).toEqual([]);
  await queue.ask('shop', ['/b']);
  expect(purged).toEqual([
    ['shop', ['/a']],
    ['shop', ['/b']],
  ]);
});

test('repeats a failed purge with what was asked for since', async () => {
  fails = true;
  await queue.ask('shop', ['/a']);
  await queue.ask('shop', ['/b']);
  expect(await endPause()).toBe(1_000);
  expect(purged).toEqual([]);
  fails = false;
  await endPause();
  expect(purged).toEqual([['shop', ['/a', '/b']]]);
});

test('gives up once pages are outdated anyway', async () => {
  fails = true;
  await queue.ask('shop', ['/a']);
  let count = 0;
  while ((await endPause()) !== undefined) count += 1;
  expect(count).toBe(60);
});

test('forgets an install', async () => {
  await queue.ask('shop', ['/a']);
  await queue.ask('shop', ['/b']);
  queue.forget('shop');
  await endPause();
  expect(purged).toEqual([['shop', ['/a']]]);
});
