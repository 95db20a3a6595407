import pino from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { createScheduledTasks } from './scheduled-tasks.ts';

const clock = manualClock();
/** Runs in their order; `end` gives the time of the next task, or fails. */
let runs: { id: string; signal: AbortSignal; end(next: number | null | Error): Promise<void> }[];
let present: string[];
let held: Set<string>;
let warnings: number;
let tasks: ReturnType<typeof createScheduledTasks>;

beforeEach(async () => {
  runs = [];
  present = ['a', 'b', 'c', 'd'];
  held = new Set();
  warnings = 0;
  tasks = createScheduledTasks({
    websites: () => present,
    isHeld: (id) => held.has(id),
    run(id, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<number | null>();
      signal.addEventListener('abort', () => reject(signal.reason));
      const settled = () => new Promise<void>((done) => setImmediate(done));
      runs.push({
        id,
        signal,
        end(next) {
          if (next instanceof Error) reject(next);
          else resolve(next);
          return settled();
        },
      });
      return promise;
    },
    log: pino({ level: 'warn' }, { write: () => (warnings += 1) }),
    clock,
  });
  tasks.look();
});

const ids = () => runs.map(({ id }) => id).join('');
/** A look when everything is due. */
async function lookLater(ms = 5 * MINUTE_MS): Promise<void> {
  clock.advance(ms);
  tasks.look();
}
const end = (at: number, next: number | null | Error = null) => runs[at]?.end(next);

it('runs two websites at once, and the next one when one of them has ended', async () => {
  expect(ids()).toBe('');
  await lookLater();
  expect(ids()).toBe('ab');
  await end(0);
  expect(ids()).toBe('abc');
  await end(2, new Error('failed'));
  expect({ ids: ids(), warnings }).toEqual({ ids: 'abcd', warnings: 1 });
});

it('leaves a place to the others while a slow website runs, and lets slow ones wait for each other', async () => {
  await lookLater();
  clock.advance(MINUTE_MS);
  await end(0, 0);
  await end(1, 0);
  expect(ids()).toBe('abcd');
  await end(2);
  await end(3);
  present = ['a', 'b', 'e'];
  tasks.look();
  await lookLater();
  // Both are slow since their last run, and `e` is new.
  expect(ids()).toBe('abcdae');
  await end(5);
  expect(ids()).toBe('abcdae');
  await end(4);
  expect(ids()).toBe('abcdaeb');
});

it('runs the website first that has waited longest', async () => {
  await lookLater();
  await end(1, clock.now().getTime());
  clock.advance(1_000);
  await end(0, clock.now().getTime());
  await lookLater();
  // `c` and `d` still run.
  expect(ids()).toBe('abcd');
  await end(2, null);
  await end(3, null);
  expect(ids()).toBe('abcdba');
});

it('runs a website when its next task is due: after 5 minutes at the earliest, an hour at the latest', async () => {
  present = ['a'];
  await lookLater();
  await end(0, 0);
  await lookLater(4 * MINUTE_MS);
  expect(runs).toHaveLength(1);
  await lookLater(MINUTE_MS);
  expect(runs).toHaveLength(2);
  await end(1, null);
  await lookLater(59 * MINUTE_MS);
  expect(runs).toHaveLength(2);
  await lookLater(MINUTE_MS);
  expect(runs).toHaveLength(3);
});

it('runs no website that is gone or held, and none twice at once', async () => {
  present = ['a', 'b'];
  held.add('b');
  await lookLater();
  await lookLater(60 * MINUTE_MS);
  expect(ids()).toBe('a');
  present = [];
  tasks.look();
  await end(0);
  await lookLater();
  expect(ids()).toBe('a');
});

it('ends what runs when it stops, without a warning', async () => {
  await lookLater();
  await tasks.stop();
  expect({ ids: ids(), aborted: runs.map(({ signal }) => signal.aborted), warnings }).toEqual({
    ids: 'ab',
    aborted: [true, true],
    warnings: 0,
  });
});
