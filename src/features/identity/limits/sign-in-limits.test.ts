import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, silent } from '../../../../test/database.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
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

/** As many processes as are asked for, with one database. */
const processes = (count: number, perMinute = true) =>
  Array.from({ length: count }, () =>
    createSignInLimits(createRateLimiter(database, clock, silent), { perMinute }),
  );

const address = () => `2001:db8:${counted++}::1`;
const email = () => `${counted++}@people.example`;
let counted = 0;

/**
 * How many of so many attempts at once, over some processes, are looked at. A process keeps what it took and did not spend, so each
 * needs as many attempts as the limit to have it used up.
 */
async function admitted(
  count: number,
  limits: SignInLimits[],
  attempt: (one: SignInLimits) => Promise<unknown>,
): Promise<number> {
  const outcomes = await Promise.allSettled(
    Array.from({ length: count }, (_, index) => {
      const one = limits[index % limits.length];
      return one ? attempt(one) : Promise.reject(new Error('there is no process'));
    }),
  );
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(RateLimited);
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

describe('wrong passwords', () => {
  it('of one person are looked at ten times a minute from one place', async () => {
    const [from, person] = [address(), email()];
    expect(await admitted(40, processes(2), (one) => one.password(from, person, null))).toBe(10);
    expect(
      await admitted(1, processes(1), (one) => one.password(from, ` ${person.toUpperCase()}`, null)),
    ).toBe(0);
    expect(await admitted(1, processes(1), (one) => one.password(address(), person, null))).toBe(1);
    clock.advance(60_000);
    expect(await admitted(1, processes(1), (one) => one.password(from, person, null))).toBe(1);
  });

  it('of one person are looked at ninety times a minute, wherever they come from', async () => {
    const person = email();
    expect(await admitted(200, processes(2), (one) => one.password(address(), person, null))).toBe(90);
    expect(await admitted(1, processes(1), (one) => one.password(address(), email(), null))).toBe(1);
    clock.advance(60_000);
    expect(await admitted(1, processes(1), (one) => one.password(address(), person, null))).toBe(1);
  });

  it('that one place may not try do not count against the person', async () => {
    const [from, person] = [address(), email()];
    clock.advance(60_000);
    expect(await admitted(200, processes(1), (one) => one.password(from, person, null))).toBe(10);
    expect(await admitted(100, processes(1), (one) => one.password(address(), person, null))).toBe(80);
  });

  it('of who is signed in are looked at ten times a minute, in each of the two places that ask', async () => {
    const person = crypto.randomUUID();
    clock.advance(60_000);
    expect(await admitted(20, processes(2), (one) => one.presentPassword(person))).toBe(10);
    expect(await admitted(20, processes(2), (one) => one.enrolment(person))).toBe(10);
  });

  it('from one address, or the network of one customer, thirty times a minute', async () => {
    const from = ['2001:db8:ffff::1', '2001:db8:ffff::2'];
    const admit = (one: SignInLimits) => one.password(from[counted % 2] ?? '', email(), null);
    expect(await admitted(60, processes(1), admit)).toBe(30);
  });

  it('are not limited where that is switched off', async () => {
    const [from, person] = [address(), email()];
    expect(await admitted(60, processes(1, false), (one) => one.password(from, person, null))).toBe(60);
  });
});

it('passwords that are not fit are looked at ten times a minute, whatever is switched off', async () => {
  const person = crypto.randomUUID();
  clock.advance(60_000);
  expect(await admitted(30, processes(2, false), (one) => one.newPassword(person))).toBe(10);
});

it('what was right does not count', async () => {
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
  ['at the sign-in, from one place,', 5, (one: SignInLimits, of: string) => one.code('192.0.2.1', of, null)],
  ['of who is signed in', 10, (one: SignInLimits, of: string) => one.presentCode(of)],
] as const)(
  'wrong codes of one person %s are looked at %d times an hour, whatever is switched off',
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

it('codes at the sign-in of one person are looked at ten times an hour, wherever they come from', async () => {
  const [from, person] = [address(), crypto.randomUUID()];
  nextHour();
  expect(await admitted(20, processes(2, false), (one) => one.code(from, person, null))).toBe(5);
  expect(await admitted(30, processes(2, false), (one) => one.code(address(), person, null))).toBe(5);
});

it('codes at the sign-in, recovery codes and those of who is signed in are counted apart', async () => {
  const [from, person] = [address(), crypto.randomUUID()];
  nextHour();
  expect(await admitted(11, processes(1), (one) => one.code(from, person, null))).toBe(5);
  expect(await admitted(11, processes(1), (one) => one.recoveryCode(from, person, null))).toBe(10);
  expect(await admitted(11, processes(1), (one) => one.presentCode(person))).toBe(10);
});

it('recovery codes of one person are looked at ten times an hour from one place', async () => {
  const [from, person] = [address(), crypto.randomUUID()];
  nextHour();
  expect(await admitted(20, processes(2, false), (one) => one.recoveryCode(from, person, null))).toBe(10);
  expect(await admitted(1, processes(2, false), (one) => one.recoveryCode(address(), person, null))).toBe(1);
});

it('recovery codes of one person are looked at a thousand times an hour, wherever they come from', async () => {
  const [limits, person] = [processes(2, false), crypto.randomUUID()];
  nextHour();
  let looked = 0;
  // Not all at once: the database lets so many wait, and no more.
  for (let times = 0; times < 11; times++) {
    looked += await admitted(100, limits, (one) => one.recoveryCode(address(), person, null));
  }
  expect(looked).toBe(1_000);
}, 120_000);

describe('a known device', () => {
  const nextMinute = () => clock.advance(MINUTE_MS - (clock.now().getTime() % MINUTE_MS));
  const device = (userId: string) => ({ id: crypto.randomUUID(), userId });

  it('has five wrong passwords a minute where strangers have used up theirs; all of a person together ten', async () => {
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

  it('is a stranger as any once it has used up what is its own', async () => {
    const [limits, person, from] = [processes(2), email(), address()];
    const one = device(crypto.randomUUID());
    nextMinute();
    expect(await admitted(30, limits, (each) => each.password(from, person, one))).toBe(15);
    expect(await admitted(1, limits, (each) => each.password(from, person, null))).toBe(0);
    expect(await admitted(200, limits, (each) => each.password(address(), person, null))).toBe(80);
  });

  it('takes nothing from strangers, nor from who shares its address', async () => {
    const [limits, person, from] = [processes(1), email(), address()];
    const known = device(crypto.randomUUID());
    nextMinute();
    expect(await admitted(60, limits, (one) => one.password(from, email(), null))).toBe(30);
    expect(await admitted(5, limits, (one) => one.password(from, person, known))).toBe(5);
    expect(await admitted(100, limits, (one) => one.password(address(), person, null))).toBe(90);
  });

  it('is not charged for what was right', async () => {
    const [[limits], person, from] = [processes(1), email(), address()];
    const known = device(crypto.randomUUID());
    nextMinute();
    for (let times = 0; times < 40; times++) (await limits?.password(from, person, known))?.succeeded();
    expect(await admitted(100, processes(1), (one) => one.password(address(), person, null))).toBe(90);
  });

  it.each(['code', 'recoveryCode'] as const)(
    'has five wrong ones of each kind an hour of its own: %s; all of a person together ten',
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

  it('leaves twenty wrong codes an hour against a person, whoever has stolen which devices', async () => {
    const [limits, person] = [processes(2, false), crypto.randomUUID()];
    nextHour();
    expect(await admitted(200, limits, (one) => one.code(address(), person, device(person)))).toBe(20);
  });
});

it('says when to come back', async () => {
  const [limits] = processes(1);
  const [from, person] = [address(), crypto.randomUUID()];
  nextHour();
  clock.advance(20 * MINUTE_MS);
  for (let times = 0; times < 5; times++) await limits?.code(from, person, null);
  await expect(limits?.code(from, person, null)).rejects.toMatchObject({
    retryAfterSeconds: 40 * 60,
    message: 'Too many attempts - please wait and try again',
  });
});
