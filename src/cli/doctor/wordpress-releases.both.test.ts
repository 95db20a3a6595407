import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/database.ts';
import { manualClock } from '../../../test/manual-clock.ts';
import { noteFetch } from '../../features/updates/fetch-store.ts';
import { beginRollout, stopRollout } from '../../features/updates/rollout-store.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { checkWordPressReleases } from './wordpress-releases.ts';

const clock = manualClock(new Date('2026-05-01T00:00:00.000Z'));
const hostId = crypto.randomUUID();
let database: Awaited<ReturnType<typeof openTestDatabase>>;

beforeAll(async () => {
  database = await openTestDatabase();
  await database.write(({ queries }) =>
    queries
      .insertInto('hosts')
      .values({
        id: hostId,
        name: 'web1',
        address: 'unix:/run/host.sock',
        accepting: true,
        description: null,
        seen_at: null,
        reason: null,
        created_at: timestamp(clock),
      })
      .execute(),
  );
});
afterAll(() => database.remove());

const found = (wordpressFetch = true, host: 'linux' | 'embedded' = 'linux') =>
  checkWordPressReleases(database, { host, wordpressFetch }, clock);
const fetched = (reason: string | null) =>
  database.write(({ queries }) => noteFetch(queries, hostId, { fetched_at: timestamp(clock), reason }));

test('hosts fetch releases, or say why not', async () => {
  expect(await found(true, 'embedded')).toEqual([]);
  expect(await found()).toMatchObject([{ state: 'ok' }]);
  await fetched('wordpress.org answers 503');
  expect(await found()).toMatchObject([
    {
      state: 'warning',
      message: 'web1 could not fetch all releases of WordPress: wordpress.org answers 503.',
    },
  ]);
  await fetched(null);
  expect(await found()).toMatchObject([{ state: 'ok' }]);
  clock.advance(3 * DAY_MS);
  expect(await found()).toMatchObject([
    { state: 'warning', message: expect.stringContaining('last fetched releases of WordPress') },
  ]);
  expect(await found(false)).toMatchObject([{ state: 'ok' }]);
});

test('a stopped rollout is a problem', async () => {
  await database.write(async ({ queries }) => {
    await beginRollout(queries, '6.8.3', timestamp(clock));
    await stopRollout(queries, '6.8.3', { stopped_at: timestamp(clock), reason: '1 of 1 was rolled back.' });
  });
  expect((await found()).at(-1)).toMatchObject({
    state: 'problem',
    message: 'The rollout of WordPress 6.8.3 was stopped. 1 of 1 was rolled back.',
    remedy: expect.stringContaining('"homeport rollout resume 6.8.3"'),
  });
  await database.write(({ queries }) => beginRollout(queries, '6.9', timestamp(clock)));
  expect((await found()).at(-1)).toMatchObject({ state: 'problem' });
  // A later release of the same branch takes its place.
  await database.write(({ queries }) => beginRollout(queries, '6.8.4', timestamp(clock)));
  expect((await found()).map(({ state }) => state)).not.toContain('problem');
});
