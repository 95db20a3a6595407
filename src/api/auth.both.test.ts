import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../test/manual-clock.ts';
import { processorMs } from '../../test/processor-time.ts';
import type { Database } from '../database/database.ts';
import { createCredentialService, type IssuedCredential } from '../features/identity/credentials/service.ts';
import { timestamp } from '../lib/clock.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import { systemRandomness } from '../lib/ids.ts';
import { createActivityLog } from '../platform/activity-log.ts';
import { type Authenticator, createAuthenticator } from './auth.ts';

describe('credentials through the server', () => {
  const clock = manualClock();
  let homeport: TestHomeport;
  let other: TestHomeport;
  let owner: Person;

  beforeAll(async () => {
    const roles = { api: true, hosting: false };
    homeport = await startTestHomeport({ roles, clock });
    other = await startTestHomeport({ roles, clock, place: homeport.place });
    ({ owner } = await homeport.ownedAccount());
  });
  afterAll(async () => {
    await other.remove();
    await homeport.remove();
  });

  const statusOf = async (at: TestHomeport, credential: IssuedCredential) =>
    (await at.clientOf(credential).get('/user')).status;

  it('are refused at once by the process that revokes them, and within 5 s by the others', async () => {
    const credential = await homeport.services.credentials.issue(owner.userId, { name: 'test' });
    expect(await statusOf(homeport, credential)).toBe(200);
    expect(await statusOf(other, credential)).toBe(200);
    await homeport.services.credentials.revoke(credential.username);
    expect(await statusOf(homeport, credential)).toBe(401);
    clock.advance(5_000);
    expect(await statusOf(other, credential)).toBe(401);
  });

  it('work at once in all processes, even if a process has refused their username before', async () => {
    const given = { username: crypto.randomUUID(), password: 'a password of its own' };
    expect(await statusOf(other, given)).toBe(401);
    await homeport.services.credentials.issue(owner.userId, { name: 'given', given });
    expect(await statusOf(homeport, given)).toBe(200);
    expect(await statusOf(other, given)).toBe(200);
  });

  it('expire to the millisecond', async () => {
    const expiresAt = new Date(clock.now().getTime() + 3_000);
    const credential = await homeport.services.credentials.issue(owner.userId, { name: 'short', expiresAt });
    clock.advance(2_999);
    expect(await statusOf(homeport, credential)).toBe(200);
    clock.advance(1);
    expect(await statusOf(homeport, credential)).toBe(401);
    expect(await statusOf(other, credential)).toBe(401);
  });

  it('show when they were last used, at the latest when the process has ended', async () => {
    const credential = await homeport.services.credentials.issue(owner.userId, { name: 'used' });
    const third = await startTestHomeport({
      roles: { api: true, hosting: false },
      clock,
      place: homeport.place,
    });
    clock.advance(90_500);
    expect(await statusOf(third, credential)).toBe(200);
    await third.remove();
    const seen = (await homeport.services.credentials.list()).find((one) => one.id === credential.username);
    const now = clock.now().getTime();
    expect(seen?.last_used_at).toBe(new Date(now - (now % MINUTE_MS)).toISOString());
  });
});

describe('createAuthenticator', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>;
  let clock: ManualClock;
  let userId: string;
  /** Count of the authenticator's queries. */
  let looks: number;
  let writes: number;
  /** Delays the database's answers. */
  let held: Promise<void>;

  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.remove());
  const started: Authenticator[] = [];
  /** Otherwise they would write last uses after the database is removed. */
  afterEach(async () => {
    for (const one of started.splice(0)) await one.flush();
  });
  beforeEach(async () => {
    clock = manualClock();
    looks = 0;
    writes = 0;
    held = Promise.resolve();
    userId = crypto.randomUUID();
    await database.write(({ queries }) =>
      queries
        .insertInto('users')
        .values({
          id: userId,
          email: `${userId}@example.com`,
          email_key: `${userId}@example.com`,
          first_name: 'Test',
          last_name: 'Person',
          phone: null,
          password_hash: null,
          created_at: timestamp(clock),
        })
        .execute(),
    );
  });

  function watched(): Database {
    return {
      ...database,
      write(work) {
        writes++;
        return database.write(work);
      },
      prepare(build, rows) {
        const query = database.prepare(build, rows);
        return async (parameters) => {
          looks++;
          const rows = await query(parameters);
          await held;
          return rows;
        };
      },
    };
  }

  function start(): {
    authenticator: Authenticator;
    credentials: ReturnType<typeof createCredentialService>;
  } {
    const authenticator = createAuthenticator(watched(), clock, (error) => {
      throw error;
    });
    started.push(authenticator);
    const activity = createActivityLog({ clock, random: systemRandomness });
    const parts = { database, activity, clock, random: systemRandomness };
    const unlimited = { spend: () => ({ allowed: true, resetSeconds: 0 }), refund: () => {} };
    return { authenticator, credentials: createCredentialService(parts, unlimited, authenticator.forget) };
  }

  const lastUse = (id: string) =>
    database.reader
      .selectFrom('credentials')
      .select('last_used_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
      .then((row) => row.last_used_at);

  it('queries a credential once in 4 s, regardless of its uses', async () => {
    const { authenticator, credentials } = start();
    const credential = await credentials.issue(userId, { name: 'test' });
    const expected = { userId, credentialId: credential.username, limits: null };
    for (let used = 0; used < 50; used++) expect(await authenticator.verify(credential)).toEqual(expected);
    expect(looks).toBe(1);
    clock.advance(4_000);
    expect(await authenticator.verify(credential)).toEqual(expected);
    expect(looks).toBe(2);
  });

  it('recognises a header that has proved its credential, and no other, until the credential must be read again', async () => {
    const { authenticator, credentials } = start();
    const expiresAt = new Date(clock.now().getTime() + 3_000);
    const credential = await credentials.issue(userId, { name: 'test', expiresAt });
    const headerOf = (password: string) =>
      `Basic ${Buffer.from(`${credential.username}:${password}`).toString('base64')}`;
    const header = headerOf(credential.password);
    expect(authenticator.recognise(header)).toBeUndefined();
    const wrong = headerOf(`${credential.password.slice(0, -1)}!`);
    expect(await authenticator.verify({ ...credential, password: 'wrong' }, wrong)).toBeNull();
    expect(authenticator.recognise(wrong)).toBeUndefined();
    await authenticator.verify(credential, header);
    expect(authenticator.recognise(header)).toMatchObject({ userId, credentialId: credential.username });
    for (const other of [wrong, `${header} `, header.slice(0, -4), 'Basic', '']) {
      expect(authenticator.recognise(other)).toBeUndefined();
    }
    clock.advance(3_000);
    expect(authenticator.recognise(header)).toBeUndefined();

    const lasting = await credentials.issue(userId, { name: 'lasting' });
    const known = `Basic ${Buffer.from(`${lasting.username}:${lasting.password}`).toString('base64')}`;
    await authenticator.verify(lasting, known);
    clock.advance(4_000);
    expect(authenticator.recognise(known)).toBeUndefined();
    await authenticator.verify(lasting, known);
    await credentials.revoke(lasting.username);
    expect(authenticator.recognise(known)).toBeUndefined();
  });

  it('does not query malformed usernames', async () => {
    const { authenticator } = start();
    for (const username of [
      '',
      'admin',
      '\0',
      'x'.repeat(10_000),
      crypto.randomUUID().toUpperCase(),
      `${userId} `,
    ]) {
      expect(await authenticator.verify({ username, password: 'any' })).toBeNull();
    }
    expect(looks).toBe(0);
  });

  it('does not cache a credential that was revoked during the query', async () => {
    const { authenticator, credentials } = start();
    const credential = await credentials.issue(userId, { name: 'test' });
    let release = () => {};
    held = new Promise((resolve) => {
      release = resolve;
    });
    const early = authenticator.verify(credential);
    await credentials.revoke(credential.username);
    release();
    await early;
    expect(await authenticator.verify(credential)).toBeNull();
  });

  it('writes the minute of the last use once a minute, for all credentials together', async () => {
    const { authenticator, credentials } = start();
    const [one, two] = [
      await credentials.issue(userId, { name: 'one' }),
      await credentials.issue(userId, { name: 'two' }),
    ];
    clock.advance(61_234);
    for (let used = 0; used < 20; used++) {
      await authenticator.verify(one);
      await authenticator.verify(two);
      clock.advance(1_000);
    }
    await authenticator.flush();
    expect(writes).toBe(1);
    expect(await lastUse(one.username)).toBe('2026-01-01T00:01:00.000Z');
    expect(await lastUse(two.username)).toBe('2026-01-01T00:01:00.000Z');
    await authenticator.flush();
    expect(writes).toBe(1);
    clock.advance(MINUTE_MS);
    await authenticator.verify(one);
    await authenticator.flush();
    expect(writes).toBe(2);
    expect(await lastUse(one.username)).toBe('2026-01-01T00:02:00.000Z');
  });

  it('never sets the last use back, and ignores failed attempts', async () => {
    const { authenticator, credentials } = start();
    const credential = await credentials.issue(userId, { name: 'test' });
    await authenticator.verify({ ...credential, password: 'wrong' });
    await authenticator.flush();
    expect(await lastUse(credential.username)).toBeNull();
    await authenticator.verify(credential);
    const later = '2026-01-01T09:00:00.000Z';
    await database.write(({ queries }) =>
      queries
        .updateTable('credentials')
        .set({ last_used_at: later })
        .where('id', '=', credential.username)
        .execute(),
    );
    await authenticator.flush();
    expect(await lastUse(credential.username)).toBe(later);
  });

  it('keeps uses for the next write if a write fails', async () => {
    let broken = true;
    const failing: Database = {
      ...database,
      write: (work) => (broken ? Promise.reject(new Error('gone')) : database.write(work)),
    };
    const authenticator = createAuthenticator(failing, clock, () => {});
    const { credentials } = start();
    const credential = await credentials.issue(userId, { name: 'test' });
    await authenticator.verify(credential);
    await expect(authenticator.flush()).rejects.toThrow('gone');
    broken = false;
    await authenticator.flush();
    expect(await lastUse(credential.username)).toBe('2026-01-01T00:00:00.000Z');
  });

  it('keeps only a hash of the password', async () => {
    const { credentials } = start();
    const credential = await credentials.issue(userId, { name: 'test' });
    expect(Buffer.from(credential.password, 'base64url').length).toBeGreaterThanOrEqual(16);
    expect(credential.username).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    const row = await database.reader
      .selectFrom('credentials')
      .selectAll()
      .where('id', '=', credential.username)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(credential.password);
  });

  it.each([
    ['Basic dXNlcjpwYXNz', 'user', 'pass'],
    ['basic   dXNlcjpwYXNz  ', 'user', 'pass'],
    ['Basic dXNlcjpwYTpzcw==', 'user', 'pa:ss'],
    ['Basic dXNlcjo', 'user', ''],
    ['Basic OnBhc3M=', '', 'pass'],
    [`Basic ${Buffer.from('ü:ß').toString('base64')}`, 'ü', 'ß'],
  ])('reads %j', (header, username, password) => {
    expect(start().authenticator.read(header)).toEqual({ username, password });
  });

  it.each([
    '',
    'Basic',
    'Basic ',
    'Bearer dXNlcjpwYXNz',
    'Basic dXNlcg==',
    'dXNlcjpwYXNz',
    'Basic a b',
    'Basic é',
  ])('cannot read %j', (header) => {
    expect(start().authenticator.read(header)).toBeUndefined();
  });

  it('reads the longest header fast', async () => {
    const { authenticator } = start();
    const taken = await processorMs(() => {
      for (const header of [
        `Basic ${' '.repeat(16_000)}`,
        `Basic ${'A'.repeat(16_000)}!`,
        `Basic ${'A '.repeat(8_000)}`,
      ]) {
        expect(authenticator.read(header)).toBeUndefined();
      }
    });
    expect(taken).toBeLessThan(500);
  });
});
