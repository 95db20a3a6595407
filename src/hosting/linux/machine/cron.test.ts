import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { type Cron, type CronOptions, createCron } from './cron.ts';

const EVERY_MS = 60_000;

let lines: string[];
let installs: string[];
/** Start of each run, in milliseconds from the start of the test. */
let begun: [string, number][];
let cron: Cron;

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  begun = [];
  installs = [];
});
afterEach(async () => {
  // A run that is still active in a test never ends.
  void cron.stop();
  vi.useRealTimers();
});

function start(work: (id: string) => Promise<void>, more: Partial<CronOptions> = {}): void {
  const startedAt = Date.now();
  cron = createCron({
    runCron: (id) => {
      begun.push([id, Date.now() - startedAt]);
      return work(id);
    },
    installs: () => installs,
    clock: systemClock,
    log: pino({}, { write: (line) => lines.push(line) }),
    everyMs: EVERY_MS,
    ...more,
  });
  cron.start();
}

const lasting = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms));
const names = () => begun.map(([id]) => id);

describe('runs', () => {
  test('are spread evenly over a round, one per website', async () => {
    installs = ['a', 'b', 'c', 'd'];
    start(lasting(10));
    await vi.advanceTimersByTimeAsync(2 * EVERY_MS - 1);
    expect(begun).toEqual([
      ['a', 0],
      ['b', 15_000],
      ['c', 30_000],
      ['d', 45_000],
      ['a', 60_000],
      ['b', 75_000],
      ['c', 90_000],
      ['d', 105_000],
    ]);
  });

  test('of a single website come every round', async () => {
    installs = ['a'];
    start(lasting(10));
    await vi.advanceTimersByTimeAsync(3 * EVERY_MS - 1);
    expect(begun.map(([, at]) => at)).toEqual([0, 60_000, 120_000]);
  });

  test('start with a new website, and skip one that is gone', async () => {
    installs = ['a', 'b'];
    start(lasting(10));
    await vi.advanceTimersByTimeAsync(35_000);
    installs = ['b', 'c'];
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(names()).toEqual(['a', 'b', 'c', 'b']);
  });

  test('of the first website start soon after it appears', async () => {
    start(lasting(10));
    await vi.advanceTimersByTimeAsync(25_000);
    installs = ['a'];
    await vi.advanceTimersByTimeAsync(10_000);
    expect(names()).toEqual(['a']);
  });
});

describe('concurrently', () => {
  test('a website runs at most once, however long it takes', async () => {
    installs = ['a'];
    start(lasting(2.5 * EVERY_MS));
    await vi.advanceTimersByTimeAsync(2.4 * EVERY_MS);
    expect(names()).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(0.2 * EVERY_MS);
    expect(names()).toEqual(['a', 'a']);
  });

  test('no more websites run than allowed, and the next one starts when one ends', async () => {
    installs = ['a', 'b', 'c', 'd', 'e', 'f'];
    let most = 0;
    let now = 0;
    start(
      async () => {
        now += 1;
        most = Math.max(most, now);
        await lasting(30_000)();
        now -= 1;
      },
      { atOnce: 2 },
    );
    await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
    expect(most).toBe(2);
    // Two concurrent runs of 30 s each are four a minute, so every website gets its run.
    expect(new Set(names()).size).toBe(6);
    expect(begun.length).toBeGreaterThanOrEqual(11);
    expect(begun.length).toBeLessThanOrEqual(13);
  });

  test('late runs are logged once', async () => {
    installs = ['a', 'b', 'c', 'd', 'e', 'f'];
    start(lasting(EVERY_MS), { atOnce: 1 });
    await vi.advanceTimersByTimeAsync(20 * EVERY_MS);
    expect(lines.filter((line) => line.includes('run late'))).toHaveLength(1);
  });
});

test('a failing website is logged and delays no other', async () => {
  installs = ['a', 'b'];
  start((id) => (id === 'a' ? Promise.reject(new Error('no database')) : Promise.resolve()));
  await vi.advanceTimersByTimeAsync(EVERY_MS);
  expect(names()).toEqual(['a', 'b', 'a']);
  expect(
    lines.filter((line) => /"install":"a".*no database|no database.*"install":"a"/.test(line)),
  ).toHaveLength(2);
});

test('stopping starts no more runs, and waits for the current ones', async () => {
  installs = ['a', 'b'];
  start(lasting(20_000));
  await vi.advanceTimersByTimeAsync(10_000);
  let stopped = false;
  const stopping = cron.stop().then(() => {
    stopped = true;
  });
  await vi.advanceTimersByTimeAsync(9_000);
  expect(stopped).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  await stopping;
  await vi.advanceTimersByTimeAsync(EVERY_MS);
  expect(names()).toEqual(['a']);
});
