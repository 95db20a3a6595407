import { fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createAgent, field, text } from '../../test/client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { manualClock } from '../../test/manual-clock.ts';
import { operatorFor } from '../access/caller.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/durations.ts';
import { deleteKeysBefore } from './idempotency-store.ts';

const clock = manualClock(new Date());
let homeport: TestHomeport;
let second: TestHomeport;
let owner: Person;
let accountId: string;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false }, clock });
  second = await startTestHomeport({ roles: { api: true, hosting: false }, clock, place: homeport.place });
  ({ owner, accountId } = await homeport.ownedAccount());
});
afterAll(async () => {
  await second.remove();
  await homeport.remove();
});

let keys = 0;
const newKey = () => `key-${++keys}`;

function send(client: Client, method: string, path: string, key: string, json?: unknown) {
  const headers = { 'idempotency-key': key };
  return client.call(method, path, { headers, ...(json === undefined ? {} : { json }) });
}

async function siteCount(): Promise<unknown> {
  return field((await owner.client.get(`/sites?account_id=${accountId}&limit=0`)).body, 'count');
}

describe('a repeated request', () => {
  it('gets the first answer to a POST, and creates nothing', async () => {
    const key = newKey();
    const body = { name: 'Once', account_id: accountId };
    const before = Number(await siteCount());
    const first = await send(owner.client, 'POST', '/sites', key, body);
    const again = await send(owner.client, 'POST', '/sites', key, body);
    expect(first.status).toBe(201);
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(again.headers.location).toBe(first.headers.location);
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await siteCount()).toBe(before + 1);
  });

  it('gets the first answer to a PATCH, even if the resource changed since', async () => {
    const site = await owner.client.post('/sites', { name: 'Old', account_id: accountId });
    const path = `/sites/${text(site.body, 'id')}`;
    const key = newKey();
    const first = await send(owner.client, 'PATCH', path, key, { name: 'New' });
    await owner.client.patch(path, { name: 'Newest' });
    expect(await send(owner.client, 'PATCH', path, key, { name: 'New' })).toMatchObject({
      status: 200,
      body: first.body,
    });
    expect(field((await owner.client.get(path)).body, 'name')).toBe('Newest');
  });

  it('gets 204 for a DELETE of what is gone', async () => {
    const site = await owner.client.post('/sites', { name: 'Gone', account_id: accountId });
    const path = `/sites/${text(site.body, 'id')}`;
    const key = newKey();
    expect((await send(owner.client, 'DELETE', path, key)).status).toBe(204);
    const again = await send(owner.client, 'DELETE', path, key);
    expect(again).toMatchObject({ status: 204, body: undefined });
    expect((await owner.client.delete(path)).status).toBe(404);
  });

  it('gets the first error, with its faults', async () => {
    const key = newKey();
    const first = await send(owner.client, 'POST', '/sites', key, { account_id: accountId });
    expect(first).toMatchObject({ status: 400, body: { message: 'Site name is required' } });
    const again = await send(owner.client, 'POST', '/sites', key, { account_id: accountId });
    expect(again).toMatchObject({ status: 400, body: first.body });
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  it('takes effect once if an account user is invited, with the mail', async () => {
    const key = newKey();
    const user = {
      account_id: accountId,
      first_name: 'A',
      last_name: 'B',
      email: `${crypto.randomUUID()}@people.example`,
      roles: 'full',
    };
    const path = `/accounts/${accountId}/account_users`;
    const first = await send(owner.client, 'POST', path, key, { user });
    expect(first.status).toBe(201);
    expect(await send(owner.client, 'POST', path, key, { user })).toMatchObject({
      status: 201,
      body: first.body,
    });
  });

  it('is the same with the key in quotes', async () => {
    const key = newKey();
    const body = { name: 'Quoted', account_id: accountId };
    const first = await send(owner.client, 'POST', '/sites', `"${key}"`, body);
    expect((await send(owner.client, 'POST', '/sites', key, body)).body).toEqual(first.body);
  });
});

describe('requests at once', () => {
  it('take effect once and get one answer, also from two processes', async () => {
    const before = Number(await siteCount());
    const key = newKey();
    const body = { name: 'At once', account_id: accountId };
    const clients = [owner.client, second.clientOf(owner.credential)];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => send(clients[n % 2] ?? owner.client, 'POST', '/sites', key, body)),
    );
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map((answer) => text(answer.body, 'id'))).size).toBe(1);
    const replayed = answers.filter((answer) => answer.headers['idempotent-replayed'] === 'true');
    expect(replayed.length).toBe(11);
    expect(await siteCount()).toBe(before + 1);
  });

  it('with different keys stay apart', async () => {
    const before = Number(await siteCount());
    const body = { name: 'Apart', account_id: accountId };
    await Promise.all(Array.from({ length: 10 }, () => send(owner.client, 'POST', '/sites', newKey(), body)));
    expect(await siteCount()).toBe(before + 10);
  });

  it('leave one winner for a unique name under different keys', async () => {
    const body = { name: installName(), account_id: accountId };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => send(owner.client, 'POST', '/installs', newKey(), body)),
    );
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([201, 400, 400, 400, 400, 400]);
  });
});

describe('a key', () => {
  it('of another request gets 422: another body, path or method', async () => {
    const key = newKey();
    const site = await send(owner.client, 'POST', '/sites', key, { name: 'One', account_id: accountId });
    const path = `/sites/${text(site.body, 'id')}`;
    for (const answer of [
      await send(owner.client, 'POST', '/sites', key, { name: 'Two', account_id: accountId }),
      await send(owner.client, 'PATCH', path, key, { name: 'Two' }),
      await send(owner.client, 'DELETE', path, key),
    ]) {
      expect(answer.status).toBe(422);
      expect(text(answer.body, 'message')).toMatch(/different request/);
    }
    expect(field((await owner.client.get(path)).body, 'name')).toBe('One');
  });

  it('belongs to its credential', async () => {
    const key = newKey();
    const other = homeport.clientOf(
      await homeport.services.credentials.issue(owner.userId, { name: 'other' }),
    );
    const one = await send(owner.client, 'POST', '/sites', key, { name: 'Mine', account_id: accountId });
    const two = await send(other, 'POST', '/sites', key, { name: 'Another', account_id: accountId });
    expect([one.status, two.status]).toEqual([201, 201]);
  });

  it.each(['', ' ', 'x'.repeat(256), '"', 'two words', '""'])('%j is refused', async (key) => {
    const answer = await send(owner.client, 'POST', '/sites', key, { name: 'No', account_id: accountId });
    expect(answer.status).toBe(400);
    expect(text(answer.body, 'message')).toMatch(/^Idempotency-Key must have/);
  });

  it('that is malformed gets 422 where the row lists no 400', async () => {
    const { id } = await homeport.services.installs.create(operatorFor(owner.userId), {
      name: installName(),
      account_id: accountId,
    });
    expect((await send(owner.client, 'DELETE', `/installs/${id}`, 'two words')).status).toBe(422);
    expect((await owner.client.get(`/installs/${id}`)).status).toBe(200);
  });

  it('is ignored by GET', async () => {
    expect((await send(owner.client, 'GET', '/user', 'two words')).status).toBe(200);
  });

  it('is free again after a day, and its row is deleted', async () => {
    const key = newKey();
    const body = { name: 'Daily', account_id: accountId };
    const first = await send(owner.client, 'POST', '/sites', key, body);
    clock.advance(DAY_MS + 1);
    const next = await send(owner.client, 'POST', '/sites', key, body);
    expect(next.status).toBe(201);
    expect(field(next.body, 'id')).not.toBe(field(first.body, 'id'));
    clock.advance(DAY_MS + 1);
    const { database } = homeport.platform;
    const dayAgo = new Date(clock.now().getTime() - DAY_MS).toISOString();
    await database.write(({ queries }) => deleteKeysBefore(queries, dayAgo, 500));
    expect(await database.reader.selectFrom('idempotency_keys').selectAll().execute()).toEqual([]);
  });
});

describe('a request whose changes were committed before its answer', () => {
  /** As another process leaves it that waits for something slow, or was killed. */
  async function leaveAnswer(status: number | null) {
    const key = newKey();
    const body = { name: 'Slow', account_id: accountId };
    const first = await send(owner.client, 'POST', '/sites', key, body);
    const { database } = homeport.platform;
    const where = database.reader.selectFrom('idempotency_keys').selectAll().where('key', '=', key);
    const row = await where.executeTakeFirstOrThrow();
    const set = (answer: { status: number | null; sealed_answer: string | null }) =>
      database.write(({ queries }) =>
        queries.updateTable('idempotency_keys').set(answer).where('key', '=', key).execute(),
      );
    await set({ status, sealed_answer: null });
    return { first, again: () => send(owner.client, 'POST', '/sites', key, body), finish: () => set(row) };
  }

  it('is waited for', async () => {
    const { first, again, finish } = await leaveAnswer(null);
    const waiting = again();
    await finish();
    expect(await waiting).toMatchObject({ status: 201, body: first.body });
  });

  it('gets 422 if its answer was lost, and is not done again', async () => {
    const { again } = await leaveAnswer(0);
    const before = await siteCount();
    const answer = await again();
    expect(answer.status).toBe(422);
    expect(text(answer.body, 'message')).toMatch(/its answer is not available/);
    expect(await siteCount()).toBe(before);
  });

  it('gets 422 a minute after its process was killed', async () => {
    const { again } = await leaveAnswer(null);
    clock.advance(MINUTE_MS + 1);
    expect((await again()).status).toBe(422);
  });
});

describe('a failed request', () => {
  it('leaves nothing if the server fails, and succeeds at the next attempt', async () => {
    const key = newKey();
    const before = Number(await siteCount());
    const body = { name: 'Fails first', account_id: accountId };
    const { activity } = homeport.platform;
    const record = activity.record;
    activity.record = async () => {
      throw new Error('a fault');
    };
    const failed = await send(owner.client, 'POST', '/sites', key, body);
    activity.record = record;
    expect(failed.status).toBe(503);
    expect(failed.headers['retry-after']).toMatch(/^\d+$/);
    expect(await siteCount()).toBe(before);
    const next = await send(owner.client, 'POST', '/sites', key, body);
    expect(next.status).toBe(201);
    expect(next.headers['idempotent-replayed']).toBeUndefined();
  });

  it('is not done again if a part of it was committed before the failure', async () => {
    const key = newKey();
    const before = Number(await siteCount());
    const body = { name: 'Fails late', account_id: accountId };
    const { database } = homeport.platform;
    const { write } = database;
    database.write = async (work) => {
      await write(work);
      database.write = write;
      throw new Error('a fault after the commit');
    };
    expect((await send(owner.client, 'POST', '/sites', key, body)).status).toBe(503);
    const again = await send(owner.client, 'POST', '/sites', key, body);
    expect(again.status).toBe(422);
    expect(text(again.body, 'message')).toMatch(/its answer is not available/);
    expect(await siteCount()).toBe(before + 1);
  });

  it('is done, and its answer kept, if the client disconnects meanwhile', async () => {
    const key = newKey();
    const before = Number(await siteCount());
    const body = { name: 'Gone client', account_id: accountId };
    const { activity } = homeport.platform;
    const { record } = activity;
    const gone = new AbortController();
    activity.record = async (...change) => {
      gone.abort();
      await record(...change);
    };
    const agent = createAgent(homeport.ca);
    const { username, password } = owner.credential;
    const request = fetch(`${homeport.origin}/v1/sites`, {
      dispatcher: agent,
      method: 'POST',
      signal: gone.signal,
      headers: {
        authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    });
    await expect(request).rejects.toThrow();
    activity.record = record;
    await agent.close();
    const again = await send(owner.client, 'POST', '/sites', key, body);
    expect(again).toMatchObject({ status: 201, body: { name: 'Gone client' } });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await siteCount()).toBe(before + 1);
  });
});

it('stores answers sealed', async () => {
  const key = newKey();
  const name = `Secret ${crypto.randomUUID()}`;
  await send(owner.client, 'POST', '/sites', key, { name, account_id: accountId });
  const { database } = homeport.platform;
  const rows = await database.reader
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('key', '=', key)
    .execute();
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(name);
});

it('keeps no long list of faults, so that refused requests do not fill the database', async () => {
  const key = newKey();
  const body = { name: 'Many faults', install_ids: Array.from({ length: 200 }, (_, n) => `wrong ${n}`) };
  const refused = await send(owner.client, 'POST', '/credentials', key, body);
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body).length).toBeGreaterThan(8_000);
  const { database } = homeport.platform;
  const rows = await database.reader
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('key', '=', key)
    .execute();
  expect(rows).toEqual([]);
  const again = await send(owner.client, 'POST', '/credentials', key, body);
  expect(again).toMatchObject({ status: 400, body: refused.body });
});

describe('the number of new keys is limited', () => {
  async function exhaust(key: string, taken: number): Promise<void> {
    const window_start = new Date(clock.now().getTime() - (clock.now().getTime() % HOUR_MS)).toISOString();
    await homeport.platform.database.write(({ queries }) =>
      queries.insertInto('rate_windows').values({ key, window_start, taken }).execute(),
    );
  }
  const create = (client: Client) =>
    send(client, 'POST', '/sites', newKey(), { name: 'Many', account_id: accountId });

  it('for a credential', async () => {
    const { credential, client, userId } = await homeport.person(accountId, 'full');
    await exhaust(`idempotency:${credential.username}`, 3_000);
    const answer = await create(client);
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    const other = homeport.clientOf(await homeport.services.credentials.issue(userId, { name: 'other' }));
    expect((await create(other)).status).toBe(201);
  });

  it('for all credentials of a user', async () => {
    const { client, userId } = await homeport.person(accountId, 'full');
    await exhaust(`idempotency-user:${userId}`, 6_000);
    const other = homeport.clientOf(await homeport.services.credentials.issue(userId, { name: 'other' }));
    for (const each of [client, other]) expect((await create(each)).status).toBe(429);
  });
});
