import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { createPortalClient, givePassword, PASSWORD, signedIn } from '../../../../test/portal-client.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';

const NEW = 'a new password of mine';

let homeport: TestHomeport;
let clock: ManualClock;
beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({
    clock,
    roles: { api: true, hosting: false },
    environment: {
      HOMEPORT_AUTH_FAILURE_LIMIT: '100',
      // Each test has its own addresses, as through a proxy.
      HOMEPORT_TRUST_PROXY: '127.0.0.1',
    },
  });
});
afterAll(() => homeport.remove());

/** Tries to sign in from an address. */
const tryFrom = (address: string, email: string, password: string) =>
  createPortalClient(homeport).call('POST', '/session', {
    json: { email, password },
    headers: { 'x-forwarded-for': address },
  });

const TOO_MANY = {
  status: 429,
  headers: { 'retry-after': '60' },
  body: { message: 'Too many attempts' },
};

it('one user’s password can be guessed ten times a minute from one address; others can sign in', async () => {
  clock.advance(MINUTE_MS - (clock.now().getTime() % MINUTE_MS));
  const [victim, other] = [await homeport.person(), await homeport.person()];
  const theirs = await signedIn(homeport, victim);
  await givePassword(homeport, other);
  // Concurrently: none slips through while another is checked.
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => tryFrom('192.0.2.1', victim.email, `guess ${index}`)),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(10).fill(401), ...Array(10).fill(429)]);
  expect(await tryFrom('192.0.2.1', victim.email.toUpperCase(), PASSWORD)).toMatchObject(TOO_MANY);
  expect((await tryFrom('192.0.2.2', victim.email, PASSWORD)).status).toBe(200);
  expect((await tryFrom('192.0.2.1', other.email, PASSWORD)).status).toBe(200);
  expect((await theirs.post('/second_factor/enrolment', { password: PASSWORD })).status).toBe(200);
  const change = { current_password: PASSWORD, password: NEW };
  expect((await theirs.post('/password', change)).status).toBe(204);
  clock.advance(MINUTE_MS);
  expect((await tryFrom('192.0.2.1', victim.email, NEW)).status).toBe(200);
});

it('one user’s password can be guessed ninety times a minute from all addresses', async () => {
  clock.advance(MINUTE_MS);
  const victim = await homeport.person();
  const theirs = await signedIn(homeport, victim);
  const answers = await Promise.all(
    Array.from({ length: 110 }, (_, index) => tryFrom(`198.51.100.${index}`, victim.email, `guess ${index}`)),
  );
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(90);
  expect(await tryFrom('192.0.2.3', victim.email, PASSWORD)).toMatchObject(TOO_MANY);
  // Signed-in users are not affected.
  expect((await theirs.post('/second_factor/enrolment', { password: PASSWORD })).status).toBe(200);
});

it('an open session can guess the password ten times a minute, for each form that asks', async () => {
  clock.advance(MINUTE_MS);
  const person = await homeport.person();
  const browser = await signedIn(homeport, person);
  const wrong = (path: string, body: object) =>
    Promise.all(Array.from({ length: 12 }, () => browser.post(path, body)));
  const guess = { current_password: 'a guess', password: NEW };
  for (const [path, body, right] of [
    ['/password', guess, { ...guess, current_password: PASSWORD }],
    ['/second_factor/enrolment', { password: 'a guess' }, { password: PASSWORD }],
  ] as const) {
    const statuses = (await wrong(path, body)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(10).fill(400), 429, 429]);
    expect((await browser.post(path, right)).status).toBe(429);
  }
  expect((await createPortalClient(homeport).signIn(person.email, PASSWORD)).status).toBe(200);
});

it('guessing gives the same answers for unknown users', async () => {
  clock.advance(MINUTE_MS);
  const browser = createPortalClient(homeport);
  const statuses = [];
  for (let times = 0; times < 12; times++) {
    statuses.push((await browser.signIn('nobody@people.example', 'a guess')).status);
  }
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
});

it('many users’ passwords can be guessed thirty times a minute from one address', async () => {
  clock.advance(MINUTE_MS);
  const browser = createPortalClient(homeport);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => browser.signIn(`${index}@people.example`, 'Password1234')),
  );
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(30);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
});

it('right passwords do not count', async () => {
  clock.advance(MINUTE_MS);
  const person = await homeport.person();
  await givePassword(homeport, person);
  const browser = createPortalClient(homeport);
  for (let times = 0; times < 12; times++) {
    expect((await browser.signIn(person.email, PASSWORD)).status).toBe(200);
  }
});

onlyInLong(it)('password checks of signed-in users are limited, too', async () => {
  const strict = await startTestHomeport({
    clock: manualClock(new Date()),
    roles: { api: true, hosting: false },
    environment: {
      HOMEPORT_AUTH_FAILURE_LIMIT: '100',
      HOMEPORT_RATE_LIMIT: '3000',
      HOMEPORT_ANONYMOUS_RATE_LIMIT: '20',
    },
  });
  const person = await strict.person();
  const browser = await signedIn(strict, person);
  const statusesOf = async (ask: () => Promise<{ status: number }>) => {
    const statuses = [];
    for (let times = 0; times < 25; times++) statuses.push((await ask()).status);
    return statuses;
  };
  // Earlier requests, the sign-in included, came from the same address.
  expect(await statusesOf(() => browser.signIn(person.email, PASSWORD))).toContain(429);
  const enrolments = await statusesOf(() => browser.post('/second_factor/enrolment', { password: PASSWORD }));
  expect(enrolments).toEqual([...Array(10).fill(200), ...Array(15).fill(429)]);
  const again = { current_password: PASSWORD, password: 'password1234' };
  expect((await statusesOf(() => browser.post('/password', again))).slice(10)).toEqual(Array(15).fill(429));
  await strict.remove();
});
