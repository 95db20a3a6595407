import { afterAll, beforeAll, expect, it } from 'vitest';
import { field } from '../../../../test/client.ts';
import { startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { enrol } from '../../../../test/one-time-codes.ts';
import { createPortalClient, PASSWORD, signedIn } from '../../../../test/portal-client.ts';
import { minuteOf } from '../../../database/last-uses.ts';
import { timestamp } from '../../../lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { MAX_SESSIONS } from './ending.ts';
import { addSession } from './store.ts';

let homeport: TestHomeport;
let clock: ManualClock;
beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, roles: { api: true, hosting: false } });
});
afterAll(() => homeport.remove());

/** Sessions of a person in so many other browsers, used just now. */
const others = (userId: string, count: number, awaits_second_factor = false) =>
  homeport.platform.database.write(async ({ queries }) => {
    for (let index = 0; index < count; index++) {
      await addSession(queries, {
        id: crypto.randomUUID(),
        token_hash: crypto.randomUUID(),
        user_id: userId,
        awaits_second_factor,
        address: '192.0.2.1',
        user_agent: null,
        last_seen_at: minuteOf(clock.now()),
        expires_at: timestamp(clock, HOUR_MS),
        created_at: timestamp(clock),
      });
    }
  });

it('a person has at most fifty sessions: those used longest ago end for new ones', async () => {
  const person = await homeport.person();
  const stranger = await signedIn(homeport, await homeport.person());
  const [used, idle] = [await signedIn(homeport, person), await signedIn(homeport, person)];
  clock.advance(MINUTE_MS);
  // What of it is not yet written down counts as well.
  expect((await used.get('/session')).status).toBe(200);
  await others(person.userId, MAX_SESSIONS - 2);
  const latest = await signedIn(homeport, person);
  const statuses = await Promise.all(
    [used, idle, latest, stranger].map(async (browser) => (await browser.get('/session')).status),
  );
  expect(statuses).toEqual([200, 401, 200, 200]);
});

it('one that awaits the second factor ends no other until it is signed in', async () => {
  const person = await homeport.person();
  const first = await signedIn(homeport, person);
  const { recoveryCodes } = await enrol(first, clock.now());
  clock.advance(MINUTE_MS);
  await others(person.userId, MAX_SESSIONS - 1);
  const browser = createPortalClient(homeport);
  await browser.signIn(person.email, PASSWORD);
  expect((await first.get('/session')).status).toBe(200);
  expect((await browser.post('/session/second_factor', { code: recoveryCodes[0] })).status).toBe(200);
  const { body } = await browser.get('/sessions');
  expect(field(body, 'results', MAX_SESSIONS - 1)).toBeDefined();
  expect(field(body, 'results', MAX_SESSIONS)).toBeUndefined();
});
