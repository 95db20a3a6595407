import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type JobsFixture, openJobsFixture } from '../../../test/jobs.ts';
import { manualClock } from '../../../test/manual-clock.ts';
import { systemClock } from '../../lib/clock.ts';
import { checkClock, judgeDistance, watchClock } from './clock.ts';

let fixture: JobsFixture;
beforeAll(async () => {
  fixture = await openJobsFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.remove());

const steady = () => 0;

test('a clock that is right', async () => {
  expect(await checkClock(systemClock, steady, null, false)).toMatchObject({ state: 'ok' });
  expect(await checkClock(systemClock, steady, fixture.database, true)).toMatchObject({ state: 'ok' });
});

test.each(['1970-01-01T00:03:00Z', '2103-01-01T00:00:00Z'])('the year of %s', async (time) => {
  const clock = manualClock(new Date(time));
  expect(await checkClock(clock, steady, null, false)).toMatchObject({
    state: 'problem',
    message: expect.stringContaining(time.slice(0, 10)),
  });
});

test('a clock that is set meanwhile', async () => {
  const clock = manualClock();
  let monotonic = 500;
  const jumped = watchClock(clock, () => monotonic);
  clock.advance(3_000);
  monotonic += 3_000;
  expect(jumped()).toBe(0);
  clock.advance(-2_000);
  expect(jumped()).toBe(-2_000);
  expect(await checkClock(clock, jumped, null, false)).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('2.0 s'),
  });
});

test('a clock that was set back, seen by what the database holds', async () => {
  await fixture.database.write(({ queries }) =>
    queries
      .insertInto('workers')
      .values({
        id: '11111111-1111-4111-8111-111111111111',
        process: 'elsewhere:1',
        seen_at: new Date(Date.now() + 60_000).toISOString(),
      })
      .execute(),
  );
  expect(await checkClock(systemClock, steady, fixture.database, true)).toMatchObject({
    state: 'problem',
    message: expect.stringContaining('ahead of this machine'),
  });
});

test.each([
  [200, 'ok'],
  [-900, 'ok'],
  [1_500, 'warning'],
  [-1_500, 'warning'],
  [4_500, 'problem'],
])("%d ms from the database's clock is %s", (apart, state) => {
  expect(judgeDistance(apart)).toMatchObject({ state });
});
