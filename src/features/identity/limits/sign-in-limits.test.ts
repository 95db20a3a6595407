import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, silent } from '../../../../test/database.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { createRateLimiter } from '../../../api/rate-limiter.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { RateLimited } from '../../../lib/failures.ts';
import { createSignInLimits, type SignInLimits } from './sign-in-limits.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let clock: ManualClock;
beforeAll(async () => {
  database = await openTestDatabase();
  clock = manualClock();
});
afterAll(() => database.remove());

/** Limits of several processes with one database. */
const processes = (count: number, perMinute = true) =>
  Array.from({ length: count }, () =>
    createSignInLimits(createRateLimiter(database, clock, silent), { perMinute }),
  );

const address = () => `2001:db8:${counted++}::1`;
const email = () => `${counted++}@people.example`;
let counted = 0;

/**
 * Makes concurrent attempts over some processes, and returns how many were admitted. A process keeps unspent shares, so
 * each needs as many attempts as the limit to use it up.
 */
async function admitted(
  count: number,
  limits: SignInLimits[],
  attempt: (one: SignInLimits) => Promise<unknown>,
): Promise<number> {
  const outcomes = await Promise.allSettled(
    Array.from({ length: count }, (_, index) => {
      const one = limits[index % limits.length];
      return one ? attempt(one) : Promise.reject(new Error('no process'));
    }),
  );
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(RateLimited);
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

describe('wrong passwords', () => {
  it('of one user are limited to ten a minute from one address', async () => {
    const [from, person] = [address(), email()];
    expect(await admitted(40, processes(2), (one) => one.password(from, person, null))).toBe(10);
    expect(
      await admitted(1, processes(1), (one) => one.password(from, ` ${person.toUpperCase()}`, null)),
    ).toBe(0);
    expect(await admitted(1, processes(1), (one) => one.password(address(), person, null))).toBe(1);
    clock.advance(60_000);
    expect(await admitted(1, processes(1), (one) => one.password(from, person, null))).toBe(1);
  });

  onlyInLong(it)('of one user are limited to ninety a minute from all addresses', async () => {
    const person = email();
    expect(await admitted(200, processes(2), (one) => one.password(address(), person, null))).toBe(90);
    expect(await admitted(1, processes(1), (one) => one.password(address(), email(), null))).toBe(1);
    clock.advance(60_000);
    expect(await admitted(1, processes(1), (one) => one.password(address(), person, null))).toBe(1);
  });

  it('refused to one address do not count against the user', async () => {
    const [from, person] = [address(), email()];
    clock.advance(60_000);
    expect(await admitted(200, processes(1), (one) => one.password(from, person, null))).toBe(10);
    expect(await admitted(100, processes(1), (one) => one.password(address(), person, null))).toBe(80);
  });

  it('of a signed-in user are limited to ten a minute, for password changes and enrolments each', async () => {
    const person = crypto.randomUUID();
    clock.advance(60_000);
    expect(await admitted(20, processes(2), (one) => one.presentPassword(person))).toBe(10);
    expect(await admitted(20, processes(2), (one) => one.enrolment(person))).toBe(10);
  });

  it('from one address or /64 network are limited to thirty a minute', async () => {
    const from = ['2001:db8:ffff::1', '2001:db8:ffff::2'];
    const admit = (one: SignInLimits) => one.password(from[counted % 2] ?? '', email(), null);
    expect(await admitted(60, processes(1), admit)).toBe(30);
  });

  it('are not limited if the limits per minute are off', async () => {
    const [from, person] = [address(), email()];
    expect(await admitted(60, processes(1, false), (one) => one.password(from, person, null))).toBe(60);
  });
});

it('chosen passwords are limited to ten a minute, even if the limits per minute are off', async () => {
  const person = crypto.randomUUID();
  clock.advance(60_000);
  expect(await admitted(30, processes(2, false), (one) => one.newPassword(person))).toBe(10);
});

it('right passwords do not count', async () => {
  const [limits] = processes(1);
  const [from, person] = [address(), email()];
  for (let times = 0; times < 50; times++) (await limits?.password(from, person, null))?.succeeded();
  const attempt = await limits?.password(from, person, null);
  attempt?.succeeded();
  attempt?.succeeded();
  expect(await admitted(20, limits ? [limits] : [], (one) => one.password(from, person, null))).toBe(10);
});

const nextHour = () => clock.advance(HOUR_MS - (clock.now().getTime() % HOUR_MS));

it.each([
  ['at sign-in from one address', 5, (one: SignInLimits, of: string) => one.code('192.0.2.1', of, null)],
  ['of a signed-in user', 10, (one: SignInLimits, of: string) => one.presentCode(of)],
] as const)(
  'wrong codes of one user %s are limited to %d an hour, even if the limits per minute are off',
  async (_, limit, attempt) => {
    const person = crypto.randomUUID();
    nextHour();
    expect(await admitted(30, processes(2, false), (one) => attempt(one, person))).toBe(limit);
    clock.advance(HOUR_MS - 60_000);
    expect(await admitted(1, processes(1, false), (one) => attempt(one, person))).toBe(0);
    clock.advance(60_000);
    expect(await admitted(1, processes(1, false), (one) => attempt(one, person))).toBe(1);
  },
);

it('codes at sign-in of one user are limited to ten an hour from all addresses', async () => {
  const [from, person] = [address(), crypto.randomUUID()];
  nextHour();
  expect(await admitted(20, processes(2, false), (one) => one.code(from, person, null))).toBe(5);
  expect(await admitted(30, processes(2, false), (one) => one.code(address(), person, null))).toBe(5);
});

it('codes at sign-in, recovery codes and codes of signed-in users are counted apart', async () => {
  const [from, person] = [address(), crypto.randomUUID()];
  nextHour();
  expect(await admitted(11, processes(1), (one) => one.code(from, person, null))).toBe(5);
  expect(await admitted(11, processes(1), (one) => one.recoveryCode(from, person, null))).toBe(10);
  expect(await admitted(11, processes(1), (one) => one.presentCode(person))).toBe(10);
});

it('recovery codes of one user are limited to ten an hour from one address', async () => {
  const [from, person] = [address(), crypto.randomUUID()];
  nextHour();
  expect(await admitted(20, processes(2, false), (one) => one.recoveryCode(from, person, null))).toBe(10);
  expect(await admitted(1, processes(2, false), (one) => one.recoveryCode(address(), person, null))).toBe(1);
});

it('recovery codes of one user are limited to a thousand an hour from all addresses', async () => {
  const [limits, person] = [processes(2, false), crypto.randomUUID()];
  nextHour();
  let looked = 0;
  // In batches, since the database queue is bounded.
  for (let times = 0; times < 11; times++) {
    looked += await admitted(100, limits, (one) => one.recoveryCode(address(), person, null));
  }
  expect(looked).toBe(1_000);
}, 120_000);

describe('a known device', () => {
  const nextMinute = () => clock.advance(MINUTE_MS - (clock.now().getTime() % MINUTE_MS));
  const device = (userId: string) => ({ id: crypto.randomUUID(), userId });

  it('has five separate wrong passwords a minute; all devices of a user together ten', async () => {
    const [limits, person, from] = [processes(2), email(), address()];
    const userId = crypto.randomUUID();
    nextMinute();
    expect(await admitted(150, limits, (one) => one.password(address(), person, null))).toBe(90);
    expect(await admitted(20, limits, (one) => one.password(from, person, device(userId)))).toBe(10);
    nextMinute();
    expect(await admitted(150, limits, (one) => one.password(address(), person, null))).toBe(90);
    const [stolen, own] = [device(userId), device(userId)];
    expect(await admitted(20, limits, (one) => one.password(from, person, stolen))).toBe(5);
    expect(await admitted(20, limits, (one) => one.password(from, person, own))).toBe(5);
  });

  it('shares the limits of unknown devices after its own', async () => {
    const [limits, person, from] = [processes(2), email(), address()];
    const one = device(crypto.randomUUID());
    nextMinute();
    expect(await admitted(30, limits, (each) => each.password(from, person, one))).toBe(15);
    expect(await admitted(1, limits, (each) => each.password(from, person, null))).toBe(0);
    expect(await admitted(200, limits, (each) => each.password(address(), person, null))).toBe(80);
  });

  it('does not use up the limits of unknown devices or of its address', async () => {
    const [limits, person, from] = [processes(1), email(), address()];
    const known = device(crypto.randomUUID());
    nextMinute();
    expect(await admitted(60, limits, (one) => one.password(from, email(), null))).toBe(30);
    expect(await admitted(5, limits, (one) => one.password(from, person, known))).toBe(5);
    expect(await admitted(100, limits, (one) => one.password(address(), person, null))).toBe(90);
  });

  it('is not charged for right passwords', async () => {
    const [[limits], person, from] = [processes(1), email(), address()];
    const known = device(crypto.randomUUID());
    nextMinute();
    for (let times = 0; times < 40; times++) (await limits?.password(from, person, known))?.succeeded();
    expect(await admitted(100, processes(1), (one) => one.password(address(), person, null))).toBe(90);
  });

  it.each(['code', 'recoveryCode'] as const)(
    'has five separate wrong attempts an hour for %s; all devices of a user together ten',
    async (kind) => {
      const [limits, person] = [processes(2, false), crypto.randomUUID()];
      const [stolen, own] = [device(person), device(person)];
      nextHour();
      const from = address();
      expect(await admitted(10, limits, (one) => one[kind](from, person, null))).toBe(
        kind === 'code' ? 5 : 10,
      );
      expect(await admitted(20, limits, (one) => one[kind](from, person, stolen))).toBe(5);
      expect(await admitted(20, limits, (one) => one[kind](from, person, own))).toBe(5);
      expect(await admitted(20, limits, (one) => one[kind](from, person, device(person)))).toBe(0);
    },
  );

  it('limits wrong codes to twenty an hour for a user, even with stolen device cookies', async () => {
    const [limits, person] = [processes(2, false), crypto.randomUUID()];
    nextHour();
    expect(await admitted(200, limits, (one) => one.code(address(), person, device(person)))).toBe(20);
  });
});

it('a refusal gives the seconds until the next attempt', async () => {
  const [limits] = processes(1);
  const [from, person] = [address(), crypto.randomUUID()];
  nextHour();
  clock.advance(20 * MINUTE_MS);
  for (let times = 0; times < 5; times++) await limits?.code(from, person, null);
  await expect(limits?.code(from, person, null)).rejects.toMatchObject({
    retryAfterSeconds: 40 * 60,
    message: 'Too many attempts',
  });
});
