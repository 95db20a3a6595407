import Type from 'typebox';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type JobsFixture, openJobsFixture } from '../../../test/jobs.ts';
import type { JobState } from '../../database/tables/jobs.ts';
import { deliverWebhook } from '../../features/accounts/webhooks/jobs.ts';
import type { LiveWorker } from '../../jobs/worker.ts';
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import { checkJobs } from './jobs.ts';

const kind = { name: 'work', payload: Type.Object({}), maxAttempts: 3, timeoutMs: 1_000 };
const worker: LiveWorker = { id: 'w', process: 'here:7', seenAt: '' };

let fixture: JobsFixture;
beforeAll(async () => {
  fixture = await openJobsFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.remove());

const ask = (lane: string | null = null) => fixture.ask(kind, {}, { lane });
const found = (workers: LiveWorker[]) => checkJobs(fixture.database, fixture.clock, workers);

async function set(
  id: string,
  changes: { state: JobState; lease_until?: string; error?: string; finished_at?: string },
) {
  await fixture.database.write(({ queries }) =>
    queries.updateTable('jobs').set(changes).where('id', '=', id).execute(),
  );
}

const ago = (ms: number) => new Date(fixture.clock.now().getTime() - ms).toISOString();

test('nothing waits', async () => {
  expect(await found([])).toMatchObject([{ state: 'ok' }, { state: 'ok' }]);
  expect(await found([worker])).toMatchObject([
    { state: 'ok', message: expect.stringContaining('here:7') },
    { state: 'ok' },
  ]);
});

test('reports a waiting job after 5 minutes, or without a worker', async () => {
  await ask();
  fixture.clock.advance(4 * MINUTE_MS);
  expect((await found([worker]))[0]).toMatchObject({ state: 'ok' });
  expect((await found([]))[0]).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('1 job waits'),
  });
  fixture.clock.advance(2 * MINUTE_MS);
  expect((await found([worker]))[0]).toMatchObject({ state: 'warning' });
});

test('what waits behind a job of its lane, or for its time, is not late', async () => {
  const first = await ask('lane');
  await ask('lane');
  await fixture.ask(kind, {}, { lane: null, delayMs: HOUR_MS });
  fixture.clock.advance(10 * MINUTE_MS);
  await set(first, { state: 'running', lease_until: ago(-10_000) });
  expect((await found([worker]))[0]).toMatchObject({ state: 'ok' });
  await set(first, { state: 'running', lease_until: ago(2 * MINUTE_MS) });
  expect((await found([worker]))[0]).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('taken over'),
  });
});

test('webhooks that wait for slow receivers of their account are not late', async () => {
  const lane = { webhook_id: 'w', lane: 'l', account_id: 'a' };
  await fixture.ask(deliverWebhook, lane, { lane: 'webhook' });
  fixture.clock.advance(10 * MINUTE_MS);
  expect((await found([worker, { ...worker, id: 'of the webhooks' }]))[0]).toMatchObject({
    state: 'ok',
    message: expect.stringContaining('Workers: here:7.'),
  });
});

test('failures of the last day, by kind, with the latest reason', async () => {
  const [a, b, old] = [await ask(), await ask(), await ask()];
  fixture.clock.advance(25 * HOUR_MS);
  await set(old, { state: 'failed', error: 'long ago', finished_at: ago(25 * HOUR_MS) });
  expect((await found([]))[1]).toMatchObject({ state: 'ok' });
  await set(a, { state: 'failed', error: 'earlier', finished_at: ago(2_000) });
  await set(b, { state: 'failed', error: 'the disk is full', finished_at: ago(1_000) });
  expect((await found([]))[1]).toMatchObject({
    state: 'warning',
    message: 'In the last 24 hours: 2 × work. The latest: the disk is full.',
  });
});

test('a success of the same work ends what failed before it', async () => {
  const failure = { state: 'failed' as const, error: 'Error: no route', finished_at: ago(HOUR_MS) };
  const success = { state: 'succeeded' as const, finished_at: ago(MINUTE_MS) };
  const [first, second] = [await ask('one'), await ask(null)];
  await set(await ask('other'), success);
  await set(first, failure);
  await set(second, failure);
  expect((await found([worker]))[1]).toMatchObject({ message: expect.stringContaining('2 × work') });
  await set(await ask('one'), success);
  expect((await found([worker]))[1]).toMatchObject({ message: expect.stringContaining('1 × work') });
  await set(await ask(null), success);
  expect((await found([worker]))[1]).toMatchObject({ state: 'ok' });
  await set(await ask('one'), failure);
  expect((await found([worker]))[1]).toMatchObject({ message: expect.stringContaining('1 × work') });
});
