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

/** Adds recently used sessions of a user in other browsers. */
const others = (userId: string, count: number, lasts = HOUR_MS) =>
  homeport.platform.database.write(async ({ queries }) => {
    for (let index = 0; index < count; index++) {
      await addSession(queries, {
        id: crypto.randomUUID(),
        token_hash: crypto.randomUUID(),
        user_id: userId,
        awaits_second_factor: false,
        address: '192.0.2.1',
        user_agent: null,
        last_seen_at: minuteOf(clock.now()),
        expires_at: timestamp(clock, lasts),
        created_at: timestamp(clock),
      });
    }
  });

it('a user has at most fifty sessions; the least recently used end first', async () => {
  const person = await homeport.person();
  const stranger = await signedIn(homeport, await homeport.person());
  const [used, idle] = [await signedIn(homeport, person), await signedIn(homeport, person)];
  clock.advance(MINUTE_MS);
  // Uses that are not stored yet count, too.
  expect((await used.get('/session')).status).toBe(200);
  await others(person.userId, MAX_SESSIONS - 2);
  const latest = await signedIn(homeport, person);
  const statuses = await Promise.all(
    [used, idle, latest, stranger].map(async (browser) => (await browser.get('/session')).status),
  );
  expect(statuses).toEqual([200, 401, 200, 200]);
});

it('expired sessions do not count', async () => {
  const person = await homeport.person();
  const first = await signedIn(homeport, person);
  clock.advance(MINUTE_MS);
  await others(person.userId, MAX_SESSIONS, -1);
  await signedIn(homeport, person);
  expect((await first.get('/session')).status).toBe(200);
});

it('a session that awaits its second factor ends no other', async () => {
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
