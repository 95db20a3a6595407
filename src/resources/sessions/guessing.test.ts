import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { createPortalClient, givePassword, PASSWORD, signedIn } from '../../../test/portal-client.ts';
import { type ManualClock, manualClock } from '../../clock.ts';

const MINUTE_MS = 60_000;
const NEW = 'a new password of mine';

let homeport: TestHomeport;
let clock: ManualClock;
beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, environment: { HOMEPORT_AUTH_FAILURE_LIMIT: '100' } });
});
afterAll(() => homeport.remove());

it('guessing a person’s password is over after ten wrong ones a minute, for who knows it too; others sign in', async () => {
  clock.advance(MINUTE_MS - (clock.now().getTime() % MINUTE_MS));
  const [victim, other] = [await homeport.person(), await homeport.person()];
  const theirs = await signedIn(homeport, victim);
  await givePassword(homeport, other);
  const browser = createPortalClient(homeport);
  // All at once: none slips through while another is looked at.
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => browser.signIn(victim.email, `guess ${index}`)),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(10).fill(401), ...Array(10).fill(429)]);
  const refused = await browser.signIn(victim.email.toUpperCase(), PASSWORD);
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': '60' },
    body: { message: 'Too many attempts - please wait and try again' },
  });
  const change = { current_password: PASSWORD, password: NEW };
  expect((await theirs.post('/password', change)).status).toBe(429);
  expect((await theirs.post('/second_factor/enrolment', { password: PASSWORD })).status).toBe(429);
  expect((await theirs.get('/session')).status).toBe(200);
  expect((await browser.signIn(other.email, PASSWORD)).status).toBe(200);
  clock.advance(MINUTE_MS);
  expect((await browser.signIn(victim.email, PASSWORD)).status).toBe(200);
});

it('guessing says as little of people who are not there', async () => {
  clock.advance(MINUTE_MS);
  const browser = createPortalClient(homeport);
  const statuses = [];
  for (let times = 0; times < 12; times++) {
    statuses.push((await browser.signIn('nobody@people.example', 'a guess')).status);
  }
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
});

it('guessing many people’s passwords is over after thirty wrong ones a minute from one address', async () => {
  clock.advance(MINUTE_MS);
  const browser = createPortalClient(homeport);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => browser.signIn(`${index}@people.example`, 'Password1234')),
  );
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(30);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
});

it('signing in often is no guessing', async () => {
  clock.advance(MINUTE_MS);
  const person = await homeport.person();
  await givePassword(homeport, person);
  const browser = createPortalClient(homeport);
  for (let times = 0; times < 12; times++) {
    expect((await browser.signIn(person.email, PASSWORD)).status).toBe(200);
  }
});
