import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { field } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { manualClock } from '../../../../test/manual-clock.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../../../test/servers/webhook-receiver.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { MAX_WEBHOOKS, OVERLAP_MS } from './service.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', it);

const clock = manualClock(new Date());
let homeport: TestHomeport;
let receiver: WebhookReceiver;
let owner: Person;
let accountId: string;

beforeAll(async () => {
  homeport = await startTestHomeport({
    clock,
    environment: { HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.1/32', HOMEPORT_WEBHOOK_HTTP: 'true' },
  });
});
afterAll(() => homeport?.remove());

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  ({ owner, accountId } = await homeport.ownedAccount());
});
afterAll(() => receiver?.close());
afterEach(async () => {
  receiver.answer = () => 204;
  receiver.headers = {};
  const { body } = await owner.client.get('/webhooks');
  for (const webhook of listOf(body)) await owner.client.delete(`/webhooks/${idOf(webhook)}`);
  receiver.received.length = 0;
});

const listOf = (body: unknown): unknown[] => {
  const results = field(body, 'results');
  return Array.isArray(results) ? results : [];
};
const idOf = (body: unknown) => String(field(body, 'id'));

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 20 });

async function createWebhook(more: object = {}, url = receiver.url) {
  const wanted = { account_id: accountId, url, event_types: ['site.created'], ...more };
  const answer = await owner.client.post('/webhooks', wanted);
  expect(answer.status).toBe(201);
  return { id: idOf(answer.body), secret: String(field(answer.body, 'secret')), body: answer.body };
}
const addSite = async (name: string) => {
  const answer = await owner.client.post('/sites', { name, account_id: accountId });
  expect(answer.status).toBe(201);
};
const names = () => receiver.received.map(({ event }) => event.data.name);
const deliveriesOf = async (id: string) =>
  listOf((await owner.client.get(`/webhooks/${id}/deliveries`)).body);

const runningJobs = () =>
  homeport.platform.database.reader
    .selectFrom('jobs')
    .select('kind')
    .where('state', '=', 'running')
    .execute();
/** Afterwards a job that was running would count as lost. */
async function advance(ms: number): Promise<void> {
  await until(async () => expect(await runningJobs()).toEqual([]));
  clock.advance(ms);
}

describe('a webhook', () => {
  rule('gets the events of its account, signed as Standard Webhooks says', async () => {
    const { id, secret } = await createWebhook({ description: 'Deployments' });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await addSite('Signed');
    await until(() => expect(names()).toEqual(['Signed']));

    const [message] = receiver.received;
    const headers = Object.fromEntries(
      Object.entries(message?.headers ?? {}).map(([k, v]) => [k, String(v)]),
    );
    const event = new Webhook(secret).verify(message?.body ?? '', headers);
    expect(event).toEqual({
      id: headers['webhook-id'],
      type: 'site.created',
      version: 1,
      timestamp: expect.any(String),
      account_id: accountId,
      install_id: null,
      data: { site_id: expect.any(String), name: 'Signed' },
    });
    expect(() =>
      new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`).verify(message?.body ?? '', headers),
    ).toThrow('No matching signature found');
    const listed = await owner.client.get('/events?type=site.created');
    expect(listOf(listed.body)).toContainEqual(event);

    await until(async () =>
      expect(await deliveriesOf(id)).toEqual([
        expect.objectContaining({
          event,
          state: 'succeeded',
          attempts: 1,
          response_status: 204,
          error: null,
        }),
      ]),
    );
  });

  rule('never shows its secret again, and stores it sealed', async () => {
    const { id, secret } = await createWebhook();
    for (const path of [`/webhooks/${id}`, '/webhooks', `/webhooks/${id}/deliveries`]) {
      expect(JSON.stringify((await owner.client.get(path)).body)).not.toContain(secret);
    }
    const changed = await owner.client.patch(`/webhooks/${id}`, { description: 'x' });
    expect(JSON.stringify(changed.body)).not.toContain('whsec_');
    const row = await homeport.platform.database.reader
      .selectFrom('webhooks')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(secret);
    expect(homeport.platform.sealer.open(row.sealed_secret)).toBe(secret);
  });

  it('signs with both secrets for a day after a rotation', async () => {
    const { id, secret: old } = await createWebhook();
    const rotated = await owner.client.patch(`/webhooks/${id}`, { rotate_secret: true });
    const secret = String(field(rotated.body, 'secret'));
    expect(secret).not.toBe(old);
    const signaturesOf = () => String(receiver.received.at(-1)?.headers['webhook-signature']).split(' ');
    const verifies = (by: string) => {
      const { body = '', headers = {} } = receiver.received.at(-1) ?? {};
      return new Webhook(by).verify(body, {
        'webhook-id': String(headers['webhook-id']),
        'webhook-timestamp': String(headers['webhook-timestamp']),
        'webhook-signature': String(headers['webhook-signature']),
      });
    };
    await addSite('Both');
    await until(() => expect(names()).toEqual(['Both']));
    expect(signaturesOf()).toHaveLength(2);
    verifies(old);
    verifies(secret);

    await advance(OVERLAP_MS + MINUTE_MS);
    await addSite('New only');
    await until(() => expect(names()).toEqual(['Both', 'New only']));
    expect(signaturesOf()).toHaveLength(1);
  });

  rule('gets the types and installs that it asks for', async () => {
    const [one, other] = [await homeport.install(owner, accountId), await homeport.install(owner, accountId)];
    await createWebhook({ event_types: ['domain.created'], install_ids: [one.id] });
    await addSite('Unasked');
    for (const { id, name } of [other, one]) {
      await owner.client.post(`/installs/${id}/domains`, { name: `w-${name}.example.com` });
    }
    await until(() => expect(names()).toEqual([`w-${one.name}.example.com`]));
    expect(receiver.received[0]?.event).toMatchObject({ type: 'domain.created', install_id: one.id });
  });

  rule('gets nothing while it is off, and nothing of other accounts', async () => {
    const { id } = await createWebhook();
    await owner.client.patch(`/webhooks/${id}`, { enabled: false });
    await addSite('Off');
    const stranger = await homeport.ownedAccount();
    await stranger.owner.client.post('/sites', { name: 'Foreign', account_id: stranger.accountId });
    await owner.client.patch(`/webhooks/${id}`, { enabled: true });
    await addSite('On');
    await until(() => expect(names()).toEqual(['On']));
  });

  rule('is tested by an event of its own, once', async () => {
    const { id } = await createWebhook();
    const { id: silent } = await createWebhook({}, `${receiver.url}/other`);
    receiver.answer = () => 500;
    const answer = await owner.client.call('POST', `/webhooks/${id}/test`);
    expect(answer).toMatchObject({
      status: 200,
      body: { state: 'pending', event: { type: 'webhook.test' } },
    });
    const path = `/webhooks/${id}/deliveries/${idOf(answer.body)}`;
    await until(async () =>
      expect((await owner.client.get(path)).body).toMatchObject({
        state: 'failed',
        attempts: 1,
        response_status: 500,
        response_body: 'status 500',
        error: 'The receiver answered 500.',
      }),
    );
    expect(await deliveriesOf(silent)).toEqual([]);
    expect((await owner.client.get(`/webhooks/${id}`)).body).toMatchObject({ enabled: true });
  });
});

describe('a failed delivery', () => {
  it('delays the later ones of its install only, and is retried until it succeeds', async () => {
    const [one, other] = [await homeport.install(owner, accountId), await homeport.install(owner, accountId)];
    await createWebhook({ event_types: ['domain.created'] });
    receiver.answer = ({ event }) => (event.install_id === one.id ? 503 : 204);
    const add = (install: { id: string; name: string }, n: number) =>
      owner.client.post(`/installs/${install.id}/domains`, { name: `${n}-${install.name}.example.com` });
    for (let n = 0; n < 3; n++) {
      await add(one, n);
      await add(other, n);
    }
    const of = (install: { id: string }) =>
      receiver.received
        .filter(({ event }) => event.install_id === install.id)
        .map(({ event }) => event.data.name);
    await until(() => expect(of(other)).toEqual([0, 1, 2].map((n) => `${n}-${other.name}.example.com`)));
    expect(new Set(of(one))).toEqual(new Set([`0-${one.name}.example.com`]));

    receiver.answer = () => 204;
    await advance(5 * MINUTE_MS);
    const all = [0, 1, 2].map((n) => `${n}-${one.name}.example.com`);
    await until(() => expect([...new Set(of(one))]).toEqual(all));
    const ids = receiver.received
      .filter(({ event }) => event.data.name === all[0])
      .map(({ headers }) => headers['webhook-id']);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(1);
  });

  rule('of a receiver that does not answer delays no other account', async () => {
    await createWebhook({ event_types: ['install.updated'] });
    const answered = Promise.withResolvers<number>();
    receiver.answer = ({ event }) => (event.type === 'install.updated' ? answered.promise : 204);
    const event = () => ({
      ...{ id: crypto.randomUUID(), type: 'install.updated', account_id: accountId, subject_id: null },
      ...{ install_id: crypto.randomUUID(), data: '{}', created_at: clock.now().toISOString() },
    });
    await homeport.platform.database.write(({ queries }) =>
      queries
        .insertInto('events')
        .values(Array.from({ length: 40 }, event))
        .execute(),
    );
    // As many as one account may have at once.
    await until(() => expect(receiver.received).toHaveLength(32));
    const other = await homeport.ownedAccount();
    const wanted = { account_id: other.accountId, url: receiver.url, event_types: ['site.created'] };
    const { body } = await other.owner.client.post('/webhooks', wanted);
    await other.owner.client.post('/sites', { name: 'Beside', account_id: other.accountId });
    await until(() => expect(receiver.received.at(-1)?.event.data).toMatchObject({ name: 'Beside' }));
    expect(receiver.received).toHaveLength(33);
    answered.resolve(204);
    await until(() => expect(receiver.received).toHaveLength(41));
    await other.owner.client.delete(`/webhooks/${idOf(body)}`);
  });

  it('switches the webhook off after 3 days, with a mail to the owners and an activity entry', async () => {
    const { id } = await createWebhook();
    receiver.answer = () => 500;
    await addSite('Never');
    await until(async () =>
      expect(await deliveriesOf(id)).toMatchObject([{ attempts: 1, state: 'pending' }]),
    );
    await addSite('Behind');
    await until(async () => expect(await deliveriesOf(id)).toMatchObject([{ attempts: 0 }, { attempts: 1 }]));
    await advance(3 * DAY_MS);
    await until(async () =>
      expect((await owner.client.get(`/webhooks/${id}`)).body).toMatchObject({
        enabled: false,
        disabled_reason: 'Deliveries failed for 3 days. The last attempt: The receiver answered 500.',
      }),
    );
    expect(await deliveriesOf(id)).toMatchObject([
      { state: 'failed', attempts: 0, error: 'The webhook was switched off before this delivery.' },
      { state: 'failed', attempts: 2, error: 'The receiver answered 500.' },
    ]);
    const mails = await homeport.platform.database.reader
      .selectFrom('jobs')
      .select('payload')
      .where('kind', '=', 'send_webhook_disabled')
      .execute();
    expect(mails.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({
        ...{ user_id: owner.userId, to: owner.email, account_id: accountId },
        host: new URL(receiver.url).host,
      }),
    );
    const entries = await homeport.platform.database.reader
      .selectFrom('activity')
      .select(['action', 'subject_id', 'user_name'])
      .where('action', '=', 'webhook.disable')
      .execute();
    expect(entries).toContainEqual({ action: 'webhook.disable', subject_id: id, user_name: 'Homeport' });

    receiver.answer = () => 204;
    receiver.received.length = 0;
    expect((await owner.client.call('POST', `/webhooks/${id}/test`)).status).toBe(409);
    const repaired = await owner.client.patch(`/webhooks/${id}`, { enabled: true });
    expect(repaired.body).toMatchObject({ enabled: true, disabled_reason: null });
    await addSite('After');
    await until(() => expect(names()).toEqual(['After']));
  });

  rule('switches the webhook off at once if the receiver is gone (410)', async () => {
    const { id } = await createWebhook();
    receiver.answer = () => 410;
    await addSite('Gone');
    await until(async () =>
      expect((await owner.client.get(`/webhooks/${id}`)).body).toMatchObject({
        enabled: false,
        disabled_reason: 'The receiver answered 410 Gone.',
      }),
    );
  });

  rule('can be delivered again by hand, with the same id', async () => {
    const { id } = await createWebhook();
    await addSite('Again');
    await until(async () => expect(await deliveriesOf(id)).toMatchObject([{ state: 'succeeded' }]));
    const [first] = await deliveriesOf(id);
    const answer = await owner.client.call('POST', `/webhooks/${id}/deliveries/${idOf(first)}/redeliver`);
    expect(answer).toMatchObject({ status: 200, body: { event: field(first, 'event') } });
    expect(idOf(answer.body)).not.toBe(idOf(first));
    await until(() => expect(names()).toEqual(['Again', 'Again']));
    const [one, other] = receiver.received;
    expect(one?.headers['webhook-id']).toBe(other?.headers['webhook-id']);
  });

  rule('that waits is not delivered again by hand', async () => {
    const { id } = await createWebhook();
    receiver.answer = () => 500;
    await addSite('Waiting');
    await until(async () => expect(await deliveriesOf(id)).toMatchObject([{ attempts: 1 }]));
    const [waiting] = await deliveriesOf(id);
    const path = `/webhooks/${id}/deliveries/${idOf(waiting)}/redeliver`;
    expect(await owner.client.call('POST', path)).toMatchObject({
      status: 409,
      body: { message: 'This delivery is still waiting' },
    });
  });

  rule('is a redirect, which is not followed', async () => {
    const { id } = await createWebhook();
    receiver.answer = () => 307;
    receiver.headers = { location: `${receiver.url}/elsewhere` };
    await addSite('Redirected');
    await until(async () =>
      expect(await deliveriesOf(id)).toMatchObject([
        { response_status: 307, error: 'The receiver answered 307; redirects are not followed.' },
      ]),
    );
    expect(receiver.received.length).toBe(1);
  });
});

onlyOn('sqlite', describe)('the address of a webhook', () => {
  it.each([
    ['no address', 'hooks', 'invalid_url'],
    ['another protocol', 'ftp://hooks.example.com/', 'not_https'],
    ['a password', 'https://user:password@hooks.example.com/', 'credentials'],
    ['the port of another service', 'https://hooks.example.com:25/', 'port'],
    ['a private address', 'https://192.168.0.1/', 'private_address'],
    ['a private address in IPv6', 'https://[fd00::1]/', 'private_address'],
    ['a metadata service', 'http://169.254.169.254/latest', 'private_address'],
    ['an address in another notation', 'http://0xc0a80001/', 'private_address'],
  ])('is refused: %s', async (_, url, code) => {
    const answer = await owner.client.post('/webhooks', { account_id: accountId, url });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ resource: 'Webhook', field: 'url', code }] },
    });
    const { id } = await createWebhook();
    expect((await owner.client.patch(`/webhooks/${id}`, { url })).status).toBe(400);
  });

  it('may be changed', async () => {
    const moved = await startWebhookReceiver();
    try {
      const { id } = await createWebhook();
      await addSite('Here');
      await until(() => expect(names()).toEqual(['Here']));
      await owner.client.patch(`/webhooks/${id}`, { url: moved.url });
      await addSite('There');
      await until(() => expect(moved.received.map(({ event }) => event.data.name)).toEqual(['There']));
      expect(names()).toEqual(['Here']);
    } finally {
      await moved.close();
    }
  });
});

onlyOn('sqlite', describe)('limits and permissions', () => {
  it('an account has a limited number of webhooks', async () => {
    for (let n = 0; n < MAX_WEBHOOKS; n++) await createWebhook();
    const answer = await owner.client.post('/webhooks', { account_id: accountId, url: receiver.url });
    expect(answer).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(`limit of ${MAX_WEBHOOKS} webhooks`) },
    });
  });

  it('owners and full users manage webhooks; partial users and limited credentials see none', async () => {
    const install = await homeport.install(owner, accountId);
    const { id } = await createWebhook();
    const full = await homeport.person(accountId, 'full');
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    const outsider = await homeport.ownedAccount();
    const issue = (limits: Parameters<typeof homeport.services.credentials.issue>[1]['limits']) =>
      homeport.services.credentials
        .issue(owner.userId, { name: 'x', ...(limits && { limits }) })
        .then(homeport.clientOf);
    const ofInstall = await issue({
      readOnly: false,
      accountId,
      installs: { by: 'id', values: [install.id] },
    });
    const reading = await issue({ readOnly: true, accountId: null, installs: null });
    const body = { account_id: accountId, url: receiver.url };

    expect((await full.client.post('/webhooks', body)).status).toBe(201);
    expect(listOf((await full.client.get('/webhooks')).body)).toHaveLength(2);
    for (const client of [partial.client, ofInstall]) {
      expect((await client.get('/webhooks')).body).toMatchObject({ count: 0, results: [] });
      expect((await client.post('/webhooks', body)).status).toBe(403);
      expect((await client.get(`/webhooks/${id}`)).status).toBe(404);
      expect((await client.delete(`/webhooks/${id}`)).status).toBe(404);
      expect((await client.get(`/webhooks/${id}/deliveries`)).status).toBe(404);
    }
    expect((await outsider.owner.client.get(`/webhooks/${id}`)).status).toBe(404);
    expect((await outsider.owner.client.post('/webhooks', body)).status).toBe(400);
    expect((await reading.get(`/webhooks/${id}`)).status).toBe(200);
    expect((await reading.post('/webhooks', body)).status).toBe(403);
    expect((await reading.call('POST', `/webhooks/${id}/test`)).status).toBe(403);
  });

  it('installs of other accounts are refused', async () => {
    const stranger = await homeport.ownedAccount();
    const foreign = await homeport.install(stranger.owner, stranger.accountId);
    const answer = await owner.client.post('/webhooks', {
      account_id: accountId,
      url: receiver.url,
      install_ids: [foreign.id],
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'install_ids.0', code: 'not_permitted' }] },
    });
  });
});
