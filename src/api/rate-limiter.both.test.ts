import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type Client, field } from '../../test/client.ts';
import { openTestDatabase, silent } from '../../test/database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { manualClock } from '../../test/manual-clock.ts';
import { mostlyOn } from '../../test/only-on.ts';
import { signedIn } from '../../test/portal-client.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import { createRateLimiter } from './rate-limiter.ts';

const LIMIT = 40;
const ANONYMOUS = 20;
const FAILURES = 10;
const WINDOW_MS = 60_000;

const clock = manualClock();
const environment = {
  HOMEPORT_RATE_LIMIT: String(LIMIT),
  HOMEPORT_ANONYMOUS_RATE_LIMIT: String(ANONYMOUS),
  HOMEPORT_AUTH_FAILURE_LIMIT: String(FAILURES),
  // The tests send requests for many clients, like a proxy.
  HOMEPORT_TRUST_PROXY: '127.0.0.1',
};

mostlyOn('sqlite', describe)('limits through the server', () => {
  let homeport: TestHomeport;
  let second: TestHomeport;
  let person: Person;

  beforeAll(async () => {
    const roles = { api: true, hosting: false };
    homeport = await startTestHomeport({ roles, clock, environment });
    second = await startTestHomeport({ roles, clock, environment, place: homeport.place });
    person = (await homeport.ownedAccount()).owner;
  });
  beforeEach(() => clock.advance(WINDOW_MS));
  afterAll(async () => {
    await second.remove();
    await homeport.remove();
  });

  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const times = (count: number, call: (index: number) => Promise<Answer>) =>
    Promise.all(Array.from({ length: count }, (_, index) => call(index)));
  const statuses = (answers: Answer[]) =>
    Object.fromEntries(
      [...Map.groupBy(answers, (answer) => answer.status)].map(([key, all]) => [key, all.length]),
    );
  const wrong = (username: string, address: string) => ({
    headers: {
      authorization: `Basic ${Buffer.from(`${username}:wrong`).toString('base64')}`,
      'x-forwarded-for': address,
    },
  });

  it('counts all sessions of a user together, separate from sessions that await the second factor', async () => {
    const browsers = [await signedIn(homeport, person), await signedIn(second, person)];
    const awaiting = await signedIn(homeport, person);
    const [{ id: awaitingId } = { id: '' }] = await homeport.platform.database.reader
      .selectFrom('sessions')
      .select('id')
      .orderBy('seq', 'desc')
      .limit(1)
      .execute();
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('sessions')
        .set({ awaits_second_factor: true })
        .where('id', '=', awaitingId)
        .execute(),
    );
    const ask = (index: number) => (browsers[index % 2] ?? awaiting).get('/session');
    // An even number at each server, because a server may keep the half of a share that it does not need.
    expect(statuses(await times(LIMIT + 12, ask))).toEqual({ 200: LIMIT, 429: 12 });
    expect((await awaiting.get('/session')).body).toMatchObject({ stage: 'second_factor' });
    expect((await person.client.get('/user')).status).toBe(200);
    clock.advance(WINDOW_MS);
    expect((await browsers[0]?.get('/session'))?.status).toBe(200);
  });

  it('allows a credential’s requests up to the limit, then answers 429 until the window ends', async () => {
    clock.advance(17_500);
    for (let asked = 1; asked <= LIMIT; asked++) {
      const { status, headers } = await person.client.get('/user');
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'ratelimit-limit': String(LIMIT),
        'ratelimit-remaining': String(LIMIT - asked),
        'ratelimit-reset': '43',
      });
      expect(headers['retry-after']).toBeUndefined();
    }
    const refused = await person.client.get('/installs');
    expect(refused).toMatchObject({
      status: 429,
      body: { message: 'Rate limit exceeded - too many requests' },
      headers: {
        'ratelimit-limit': String(LIMIT),
        'ratelimit-remaining': '0',
        'ratelimit-reset': '43',
        'retry-after': '43',
      },
    });

    const another = await homeport.services.credentials.issue(person.userId, { name: 'another' });
    expect((await homeport.clientOf(another).get('/user')).status).toBe(200);

    clock.advance(42_000);
    expect((await person.client.get('/user')).headers['retry-after']).toBe('1');
    clock.advance(500);
    expect((await person.client.get('/user')).status).toBe(200);
  });

  it('holds across processes: together they allow exactly the limit', async () => {
    const clients = [person.client, second.clientOf(person.credential)];
    const answers = await times(3 * LIMIT, (index) => (clients[index % 2] ?? person.client).get('/user'));
    expect(statuses(answers)).toEqual({ 200: LIMIT, 429: 2 * LIMIT });
  });

  it('counts requests without valid credentials by address, for all endpoints', async () => {
    const asks: ((client: Client, address: string) => Promise<Answer>)[] = [
      (client, address) => client.get('/status', from(address)),
      (client, address) => client.get('/installs', from(address)),
      (client, address) => client.get('/nothing/here', from(address)),
      (client, address) => client.get('/%zz', from(address)),
      (client, address) => client.call('OPTIONS', '/installs', from(address)),
      (client, address) => client.get('/user', wrong(crypto.randomUUID(), address)),
    ];
    for (const [index, ask] of asks.entries()) {
      const address = `192.0.2.${index + 1}`;
      const first = await ask(homeport.anonymous, address);
      expect(first.headers).toMatchObject({
        'ratelimit-limit': String(ANONYMOUS),
        'ratelimit-remaining': String(ANONYMOUS - 1),
      });
      await times(ANONYMOUS - 1, () => homeport.anonymous.get('/status', from(address)));
      const refused = await ask(homeport.anonymous, address);
      expect(refused.status).toBe(429);
      expect(refused.headers['retry-after']).toBe('60');
      expect((await ask(homeport.anonymous, '192.0.2.99')).status, 'another address').not.toBe(429);
    }
  });

  it('accepts valid credentials from an address that has used up its limit', async () => {
    await times(ANONYMOUS + 1, () => homeport.anonymous.get('/status', from('198.51.100.7')));
    expect((await homeport.anonymous.get('/status', from('198.51.100.7'))).status).toBe(429);
    expect((await person.client.get('/user', from('198.51.100.7'))).status).toBe(200);
  });

  it('counts an IPv6 customer as one, and an IPv4 address in either notation', async () => {
    await times(ANONYMOUS, (index) => homeport.anonymous.get('/status', from(`2001:db8:1:2:${index}::9`)));
    expect((await homeport.anonymous.get('/status', from('2001:db8:1:2:ffff::'))).status).toBe(429);
    expect((await homeport.anonymous.get('/status', from('2001:db8:1:3::1'))).status).toBe(200);
    await times(ANONYMOUS, () => homeport.anonymous.get('/status', from('203.0.113.5')));
    expect((await homeport.anonymous.get('/status', from('::ffff:203.0.113.5'))).status).toBe(429);
  });

  it('limits failed log-ins of an address, and then checks no password from it', async () => {
    const address = '192.0.2.200';
    const guess = (client: Client) => client.get('/user', wrong(crypto.randomUUID(), address));
    const answers = await times(FAILURES + 5, (index) => guess((index % 2 ? second : homeport).anonymous));
    expect(statuses(answers)).toEqual({ 401: FAILURES, 429: 5 });
    // The other process may have counted the last failure. This one learns of it with its next.
    expect((await guess(homeport.anonymous)).status).toBe(429);
    const right = await person.client.get('/user', from(address));
    expect(right.status).toBe(429);
    expect(right.headers['ratelimit-limit']).toBe(String(FAILURES));
    expect((await person.client.get('/user', from('192.0.2.201'))).status).toBe(200);
    clock.advance(WINDOW_MS);
    expect((await person.client.get('/user', from(address))).status).toBe(200);
  });

  it('limits failed log-ins of a username from any number of addresses', async () => {
    const { owner } = await homeport.ownedAccount();
    const { username } = owner.credential;
    const answers = await times(FAILURES + 5, (index) =>
      homeport.anonymous.get('/user', wrong(username, `10.1.${index}.1`)),
    );
    expect(statuses(answers)).toEqual({ 401: FAILURES, 429: 5 });
    expect((await owner.client.get('/user', from('10.2.0.1'))).status).toBe(429);
    expect((await person.client.get('/user', from('10.2.0.1'))).status).toBe(200);
    clock.advance(WINDOW_MS);
    expect((await owner.client.get('/user', from('10.2.0.1'))).status).toBe(200);
  });

  it('does not count successful log-ins', async () => {
    const address = '192.0.2.210';
    await times(LIMIT - 1, () => person.client.get('/user', from(address)));
    expect((await person.client.get('/user', from(address))).status).toBe(200);
  });

  it('gives the same answers for existing and unknown usernames', async () => {
    const bodies = new Set<string>();
    for (const [index, username] of [person.credential.username, crypto.randomUUID(), 'nobody'].entries()) {
      for (let tried = 0; tried < FAILURES + 1; tried++) {
        const answer = await homeport.anonymous.get('/user', wrong(username, `10.9.${index}.1`));
        bodies.add(`${tried} ${answer.status} ${JSON.stringify(answer.body)}`);
      }
    }
    expect(bodies.size).toBe(FAILURES + 1);
  });
});

mostlyOn('sqlite', describe)('limits that are switched off', () => {
  it('do not apply, and report a limit at which clients do not wait', async () => {
    const homeport = await startTestHomeport({
      roles: { api: true, hosting: false },
      environment: {
        HOMEPORT_RATE_LIMIT: '0',
        HOMEPORT_ANONYMOUS_RATE_LIMIT: '5',
        HOMEPORT_AUTH_FAILURE_LIMIT: '0',
      },
    });
    const { owner } = await homeport.ownedAccount();
    for (let asked = 0; asked < 30; asked++) {
      const answers = [await homeport.anonymous.get('/status'), await owner.client.get('/user')];
      for (const { status, headers } of answers) {
        expect(status).toBe(200);
        expect(Number(headers['ratelimit-remaining'])).toBeGreaterThan(1_000_000);
      }
    }
    const taken = await homeport.platform.database.reader.selectFrom('rate_windows').selectAll().execute();
    expect(taken).toEqual([]);
    expect(field((await owner.client.get('/user')).body, 'id')).toBe(owner.userId);
    await homeport.remove();
  });
});

describe('createRateLimiter', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.remove());

  async function spendAll(
    limiter: ReturnType<typeof createRateLimiter>,
    key: string,
    limit: number,
    tries: number,
  ) {
    let allowed = 0;
    for (let tried = 0; tried < tries; tried++) if ((await limiter.spend(key, limit)).allowed) allowed++;
    return allowed;
  }

  it.each([1, 2, 19, 20, 21, 39, 40, 41, 100, 3000])('allows exactly %i', async (limit) => {
    const own = manualClock();
    const limiters = [createRateLimiter(database, own, silent), createRateLimiter(database, own, silent)];
    let allowed = 0;
    for (let tried = 0; tried < limit + 20; tried++) {
      const decision = await limiters[tried % 2]?.spend(`exact ${limit}`, limit);
      if (decision?.allowed) allowed++;
    }
    // When the other process stops, each process still spends the shares that it has reserved.
    for (const limiter of limiters) allowed += await spendAll(limiter, `exact ${limit}`, limit, limit);
    expect(allowed).toBe(limit);
  });

  it('never allows more than the limit while the clocks of two processes differ', async () => {
    const ahead = manualClock(new Date('2026-01-01T00:00:00.500Z'));
    const behind = manualClock(new Date('2025-12-31T23:59:59.500Z'));
    const limiters = [
      createRateLimiter(database, ahead, silent),
      createRateLimiter(database, behind, silent),
    ];
    let allowed = 0;
    for (let tried = 0; tried < 400; tried++) {
      const decision = await limiters[tried % 2]?.spend('skewed', 100);
      if (decision?.allowed) allowed++;
    }
    expect(allowed).toBeLessThanOrEqual(100);
  });

  it('peeks without spending', async () => {
    const limiter = createRateLimiter(database, manualClock(), silent);
    for (let tried = 0; tried < 10; tried++) expect((await limiter.peek('peek', 3)).allowed).toBe(true);
    expect(await spendAll(limiter, 'peek', 3, 10)).toBe(3);
    expect((await limiter.peek('peek', 3)).allowed).toBe(false);
  });

  it('counts a key in a window other than a minute', async () => {
    const own = manualClock();
    const limiters = [createRateLimiter(database, own, silent), createRateLimiter(database, own, silent)];
    const spend = (index: number) => limiters[index % 2]?.spend('hourly', 4, 3600);
    for (let spent = 0; spent < 4; spent++) expect(await spend(spent)).toMatchObject({ allowed: true });
    own.advance(20 * MINUTE_MS);
    expect(await spend(0)).toMatchObject({ allowed: false, resetSeconds: 40 * 60 });
    own.advance(40 * MINUTE_MS);
    expect(await spend(1)).toMatchObject({ allowed: true, resetSeconds: 3600 });
  });

  it('refunds requests only in the same window', async () => {
    const own = manualClock();
    const limiter = createRateLimiter(database, own, silent);
    expect(await spendAll(limiter, 'refund', 3, 5)).toBe(3);
    limiter.refund('refund');
    expect(await spendAll(limiter, 'refund', 3, 5)).toBe(1);
    own.advance(60_000);
    limiter.refund('refund');
    limiter.refund('of nobody');
    expect(await spendAll(limiter, 'refund', 3, 5)).toBe(3);
    expect(await spendAll(limiter, 'of nobody', 3, 5)).toBe(3);
  });

  it('queries the database once per share, and once for parallel requests', async () => {
    let writes = 0;
    const counting = {
      ...database,
      write: <Result>(work: Parameters<typeof database.write<Result>>[0]) => {
        writes++;
        return database.write(work);
      },
    };
    const limiter = createRateLimiter(counting, manualClock(), silent);
    await Promise.all(Array.from({ length: 150 }, () => limiter.spend('seldom', 3000)));
    expect(writes).toBe(1);
    await spendAll(limiter, 'seldom', 3000, 4000);
    expect(writes).toBe(20);
  });

  it('counts in memory while the database accepts no writes, and in the database again afterwards', async () => {
    let broken = false;
    const failing = {
      ...database,
      write: <Result>(work: Parameters<typeof database.write<Result>>[0]) =>
        broken ? Promise.reject(new Error('full')) : database.write(work),
    };
    const lines: { msg: string }[] = [];
    const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
    const own = manualClock();
    const limiter = createRateLimiter(failing, own, log);
    expect(await spendAll(limiter, 'failing', 40, 10)).toBe(10);
    broken = true;
    expect(await spendAll(limiter, 'failing', 40, 10)).toBe(10);
    expect(await spendAll(limiter, 'never written', 20, 30)).toBe(20);
    expect((await limiter.peek('never written', 20)).allowed).toBe(false);
    expect((await limiter.peek('never asked', 20)).allowed).toBe(true);
    expect(lines.map(({ msg }) => msg)).toEqual([expect.stringContaining('counted in memory')]);
    broken = false;
    own.advance(6_000);
    // Requests spent in the meantime still count, in this and in other processes.
    expect(await spendAll(limiter, 'failing', 40, 19)).toBe(19);
    const other = createRateLimiter(database, own, silent);
    const more = (await spendAll(limiter, 'failing', 40, 10)) + (await spendAll(other, 'failing', 40, 10));
    expect(more).toBe(1);
    expect(lines.map(({ msg }) => msg)[1]).toContain('in the database again');
    expect(lines).toHaveLength(2);
  });

  it('allows requests up to the limit if the database fails', async () => {
    const gone = {
      ...database,
      get reader(): typeof database.reader {
        throw new Error('gone');
      },
      write: () => Promise.reject(new Error('gone')),
    };
    const limiter = createRateLimiter(gone, manualClock(), silent);
    expect((await limiter.peek('gone', 10)).allowed).toBe(true);
    expect(await spendAll(limiter, 'gone', 10, 20)).toBe(10);
    expect((await limiter.peek('gone', 10)).allowed).toBe(false);
  });
});
