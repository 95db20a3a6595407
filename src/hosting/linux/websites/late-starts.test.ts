import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createLateStarts, type LateStarts } from './late-starts.ts';

let log: { level: number; msg: string }[];
let late: LateStarts;

beforeEach(() => {
  vi.useFakeTimers();
  log = [];
  late = createLateStarts({
    log: pino({}, { write: (line) => log.push(JSON.parse(line)) }),
    clock: systemClock,
    retries: { firstMs: 1_000, longestMs: 60_000, healthyMs: Number.POSITIVE_INFINITY },
  });
});
afterEach(() => {
  late.stop();
  vi.useRealTimers();
});

const messages = () => log.map(({ msg }) => msg);

/** Fails so many times. */
function failing(times: number, reason = 'Redis does not answer') {
  let attempts = 0;
  const start = async () => {
    if (++attempts <= times) throw new Error(reason);
  };
  return { start, attempts: () => attempts };
}

test('what starts at once is neither logged nor waited for', async () => {
  await late.begin('shop', 'the website shop', async () => {});
  expect([messages(), late.waiting().size]).toEqual([[], 0]);
});

test('what is late is retried with backoff until it is up, and named meanwhile', async () => {
  const shop = failing(4);
  const since = new Date();
  await late.begin('shop', 'the website shop', shop.start);
  expect(late.waiting().get('shop')).toEqual({
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
  expect(late.waiting().size).toBe(0);
  expect(messages()).toEqual([
    'the website shop is not up; the host keeps trying',
    'the website shop is up again',
  ]);
});

test('the log tells of a website that stays down once an hour', async () => {
  const shop = failing(Number.POSITIVE_INFINITY);
  await late.begin('shop', 'the website shop', shop.start);
  await vi.advanceTimersByTimeAsync(24 * 3_600_000);
  expect(shop.attempts()).toBeGreaterThan(1_400);
  expect(log.length).toBeGreaterThanOrEqual(24);
  expect(log.length).toBeLessThanOrEqual(25);
});

test('what is gone, and everything once the host stops, is tried no more', async () => {
  const [gone, stopped] = [failing(9), failing(9)];
  await late.begin('gone', 'the website gone', gone.start);
  await late.begin('stopped', 'the website stopped', stopped.start);
  late.forget('gone');
  expect([...late.waiting().keys()]).toEqual(['stopped']);
  late.stop();
  await vi.advanceTimersByTimeAsync(600_000);
  expect([gone.attempts(), stopped.attempts()]).toEqual([1, 1]);
});

test('the operator has it tried at once, and sees why it fails', async () => {
  const shop = failing(2);
  await late.begin('shop', 'the website shop', shop.start);
  await expect(late.retry('shop')).rejects.toThrow('Redis does not answer');
  await late.retry('shop');
  expect([late.waiting().size, shop.attempts()]).toEqual([0, 3]);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(shop.attempts()).toBe(3);
});

test('an attempt under way when the website is removed leaves nothing behind', async () => {
  let fail: (error: Error) => void = () => {};
  const begun = late.begin('shop', 'the website shop', () => new Promise((_, reject) => (fail = reject)));
  late.forget('shop');
  fail(new Error('its folder is gone'));
  await begun;
  expect([messages(), late.waiting().size]).toEqual([[], 0]);
});
