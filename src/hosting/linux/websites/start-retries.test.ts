import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createStartRetries, type StartRetries } from './start-retries.ts';

let log: { level: number; msg: string }[];
let startRetries: StartRetries;

beforeEach(() => {
  vi.useFakeTimers();
  log = [];
  startRetries = createStartRetries({
    log: pino({}, { write: (line) => log.push(JSON.parse(line)) }),
    clock: systemClock,
    retries: { firstMs: 1_000, longestMs: 60_000, healthyMs: Number.POSITIVE_INFINITY },
  });
});
afterEach(() => {
  startRetries.stop();
  vi.useRealTimers();
});

const messages = () => log.map(({ msg }) => msg);

/** Fails the given number of times. */
function failing(times: number, reason = 'Redis does not answer') {
  let attempts = 0;
  const start = async () => {
    if (++attempts <= times) throw new Error(reason);
  };
  return { start, attempts: () => attempts };
}

test('an immediate success is not logged or listed', async () => {
  await startRetries.begin('shop', 'the website shop', async () => {});
  expect([messages(), startRetries.waiting().size]).toEqual([[], 0]);
});

test('a failed start is retried with backoff until it succeeds, and listed meanwhile', async () => {
  const shop = failing(4);
  const since = new Date();
  await startRetries.begin('shop', 'the website shop', shop.start);
  expect(startRetries.waiting().get('shop')).toEqual({
    name: 'the website shop',
    reason: 'Redis does not answer',
    since,
  });
  for (const [waitMs, attempts] of [
    [1_000, 2],
    [2_000, 3],
    [4_000, 4],
    [8_000, 5],
  ] as const) {
    await vi.advanceTimersByTimeAsync(waitMs - 1);
    expect(shop.attempts()).toBe(attempts - 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(shop.attempts()).toBe(attempts);
  }
  expect(startRetries.waiting().size).toBe(0);
  expect(messages()).toEqual([
    'the website shop is not up; the host keeps trying',
    'the website shop is up again',
  ]);
});

test('a website that stays down is logged once an hour', async () => {
  const shop = failing(Number.POSITIVE_INFINITY);
  await startRetries.begin('shop', 'the website shop', shop.start);
  await vi.advanceTimersByTimeAsync(24 * 3_600_000);
  expect(shop.attempts()).toBeGreaterThan(1_400);
  expect(log.length).toBeGreaterThanOrEqual(24);
  expect(log.length).toBeLessThanOrEqual(25);
});

test('removed websites, and all after the host stops, are not retried', async () => {
  const [gone, stopped] = [failing(9), failing(9)];
  await startRetries.begin('gone', 'the website gone', gone.start);
  await startRetries.begin('stopped', 'the website stopped', stopped.start);
  startRetries.forget('gone');
  expect([...startRetries.waiting().keys()]).toEqual(['stopped']);
  startRetries.stop();
  await vi.advanceTimersByTimeAsync(600_000);
  expect([gone.attempts(), stopped.attempts()]).toEqual([1, 1]);
});

test('a retry by the operator runs at once, and reports the failure', async () => {
  const shop = failing(2);
  await startRetries.begin('shop', 'the website shop', shop.start);
  await expect(startRetries.retry('shop')).rejects.toThrow('Redis does not answer');
  await startRetries.retry('shop');
  expect([startRetries.waiting().size, shop.attempts()]).toEqual([0, 3]);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(shop.attempts()).toBe(3);
});

test('a website removed during an attempt leaves nothing behind', async () => {
  let fail: (error: Error) => void = () => {};
  const begun = startRetries.begin(
    'shop',
    'the website shop',
    () => new Promise((_, reject) => (fail = reject)),
  );
  startRetries.forget('shop');
  fail(new Error('its folder is gone'));
  await begun;
  expect([messages(), startRetries.waiting().size]).toEqual([[], 0]);
});
