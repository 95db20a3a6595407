import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, field } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import { EVENT_TRIGGERS } from '../../../database/migrations/0025-event-triggers.ts';
import { PROBLEM_TRIGGERS } from '../../../database/migrations/0047-notifications.ts';
import { MISSING_TRIGGERS } from '../../../database/migrations/0053-missing-backups.ts';
import { INCIDENT_TRIGGERS } from '../../../database/migrations/0054-uptime.ts';
import { INSTALL_QUOTA_TRIGGERS } from '../../../database/migrations/0058-install-quotas.ts';
import type { JobState } from '../../../database/tables/jobs.ts';
import { continueOperation, failOperation } from '../../../jobs/operations-store.ts';
import { EVENT_TYPES } from './event-types.ts';
import { deleteEventsBefore } from './store.ts';

let homeport: TestHomeport;

beforeAll(async () => {
  homeport = await startTestHomeport();
});
afterAll(() => homeport?.remove());

const pageSchema = Type.Object({
  results: Type.Array(
    Type.Object({
      id: Type.String(),
      type: Type.String(),
      account_id: Type.String(),
      install_id: Type.Union([Type.String(), Type.Null()]),
      timestamp: Type.String(),
      data: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()])),
    }),
  ),
  next_cursor: Type.String(),
  has_more: Type.Boolean(),
});

async function pageOf(client: Client, query = '') {
  const answer = await client.get(`/events${query}`);
  expect(answer.status).toBe(200);
  return Parse(pageSchema, answer.body);
}

/** All events that a client sees, page by page. */
async function allOf(client: Client, query: Record<string, string> = {}) {
  const events = [];
  for (let cursor = '0'; ; ) {
    const page = await pageOf(client, `?${new URLSearchParams({ ...query, cursor })}`);
    events.push(...page.results);
    cursor = page.next_cursor;
    if (!page.has_more) return { events, cursor };
  }
}
const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

it('the triggers write the closed list of types', () => {
  const written = new Set(
    [
      ...EVENT_TRIGGERS,
      ...PROBLEM_TRIGGERS,
      ...MISSING_TRIGGERS,
      ...INCIDENT_TRIGGERS,
      ...INSTALL_QUOTA_TRIGGERS,
    ].map(({ type }) => type),
  ).add('webhook.test');
  expect(EVENT_TYPES.filter((type) => !written.has(type))).toEqual([]);
  expect([...written].filter((type) => !EVENT_TYPES.some((known) => known === type))).toEqual([]);
});

describe('the event log', () => {
  it('has every change of an account, with ids and facts', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { client } = owner;
    const site = await client.post('/sites', { name: 'A site', account_id: accountId });
    const siteId = String(field(site.body, 'id'));
    await client.patch(`/sites/${siteId}`, { name: 'Renamed' });
    const install = await homeport.install(owner, accountId, { site_id: siteId, environment: 'staging' });
    await client.patch(`/installs/${install.id}`, { environment: 'production' });
    const domain = await client.post(`/installs/${install.id}/domains`, {
      name: `e-${install.name}.example.com`,
    });
    const domainId = String(field(domain.body, 'id'));
    await client.patch(`/installs/${install.id}/domains/${domainId}`, { secure_all_urls: true });
    await client.post(`/installs/${install.id}/backups`, { description: 'x', notification_emails: [] });
    await homeport.idle();
    await client.delete(`/installs/${install.id}/domains/${domainId}`);
    await homeport.idle();
    await client.delete(`/sites/${siteId}`);
    await homeport.idle();

    const { events } = await allOf(client);
    const facts = events.map(({ type, data }) => [type, data] as const);
    expect(facts).toContainEqual(['account_user.added', { user_id: owner.userId, role: 'owner' }]);
    expect(facts).toContainEqual(['site.created', { site_id: siteId, name: 'A site' }]);
    expect(facts).toContainEqual(['site.updated', { site_id: siteId, name: 'Renamed' }]);
    const present = { install_id: install.id, name: install.name, site_id: siteId };
    expect(facts).toContainEqual([
      'install.created',
      { ...present, environment: 'staging', status: 'pending' },
    ]);
    expect(facts).toContainEqual([
      'install.active',
      { ...present, environment: 'staging', status: 'active' },
    ]);
    expect(facts).toContainEqual([
      'install.updated',
      { ...present, environment: 'production', status: 'active' },
    ]);
    expect(facts).toContainEqual(['install.deleted', expect.objectContaining({ install_id: install.id })]);
    expect(facts).toContainEqual(['site.deleted', { site_id: siteId, name: 'Renamed' }]);
    const ofDomain = { domain_id: domainId, name: `e-${install.name}.example.com` };
    for (const type of ['domain.created', 'domain.active', 'domain.updated', 'domain.deleted']) {
      expect(facts).toContainEqual([type, ofDomain]);
    }
    const ofBackup = events.filter(({ type }) => type.startsWith('backup.'));
    expect(typesOf(ofBackup)).toEqual(['backup.created', 'backup.completed']);
    expect(ofBackup.every(({ install_id }) => install_id === install.id)).toBe(true);
    const kinds = events.filter(({ type }) => type === 'operation.succeeded').map(({ data }) => data.kind);
    expect(kinds).toEqual(expect.arrayContaining(['install.create', 'backup.create']));
    expect(events.every(({ account_id }) => account_id === accountId)).toBe(true);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    const times = events.map(({ timestamp }) => timestamp);
    expect(times.every((time) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time))).toBe(true);
  });

  it('has nothing of a transaction that is rolled back', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { cursor } = await allOf(owner.client);
    const failing = homeport.platform.database.write(async ({ queries }) => {
      await insertSite(queries, accountId);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect((await pageOf(owner.client, `?cursor=${cursor}`)).results).toEqual([]);
  });

  it('is read by page, by filter and from a time', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const other = await homeport.account();
    await homeport.platform.database.write(({ queries }) =>
      queries
        .insertInto('memberships')
        .values({
          account_id: other,
          user_id: owner.userId,
          role: 'owner',
          billing: false,
          invite_accepted: true,
          created_at: new Date().toISOString(),
        })
        .execute(),
    );
    for (let n = 0; n < 5; n++)
      await owner.client.post('/sites', { name: `Site ${n}`, account_id: accountId });
    await owner.client.post('/sites', { name: 'Elsewhere', account_id: other });

    const first = await pageOf(owner.client, `?account_id=${accountId}&type=site.created&limit=2`);
    expect(first.results.map(({ data }) => data.name)).toEqual(['Site 0', 'Site 1']);
    expect(first.has_more).toBe(true);
    const rest = await pageOf(
      owner.client,
      `?account_id=${accountId}&type=site.created&cursor=${first.next_cursor}`,
    );
    expect(rest.results.map(({ data }) => data.name)).toEqual(['Site 2', 'Site 3', 'Site 4']);
    expect(rest.has_more).toBe(false);
    expect((await pageOf(owner.client, `?cursor=${rest.next_cursor}`)).results).toEqual([]);
    const last = rest.results.at(-1)?.timestamp ?? '';
    const late = await pageOf(owner.client, `?account_id=${accountId}&since=${last}`);
    expect(late.results.map(({ data }) => data.name)).toEqual(['Site 4']);
    expect((await pageOf(owner.client, `?account_id=${crypto.randomUUID()}`)).results).toEqual([]);
    for (const wrong of [
      'limit=0',
      'limit=x',
      'cursor=-1',
      'cursor=abc',
      'type=nonsense',
      'since=yesterday',
    ]) {
      expect((await owner.client.get(`/events?${wrong}`)).status, wrong).toBe(400);
    }
  });

  it('shows partial users and limited credentials the events of their installs only', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const [given, other] = [
      await homeport.install(owner, accountId),
      await homeport.install(owner, accountId),
    ];
    const partial = await homeport.person(accountId, 'partial', [given.id]);
    const without = await homeport.person(accountId, 'partial');
    const outsider = await homeport.person();
    const limits = { readOnly: true, accountId, installs: { by: 'id', values: [given.id] } } as const;
    const limited = await homeport.services.credentials.issue(owner.userId, { name: 'limited', limits });

    const whole = (await allOf(owner.client)).events;
    expect(whole.some(({ install_id }) => install_id === other.id)).toBe(true);
    const own = whole.filter(({ install_id }) => install_id === given.id).map(({ id }) => id);
    expect(own.length).toBeGreaterThan(2);
    for (const client of [partial.client, homeport.clientOf(limited)]) {
      expect((await allOf(client)).events.map(({ id }) => id)).toEqual(own);
    }
    expect((await allOf(without.client)).events).toEqual([]);
    expect((await allOf(outsider.client)).events).toEqual([]);
  });

  it('tells both accounts that a site was transferred', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const destination = await homeport.ownedAccount();
    const site = await owner.client.post('/sites', { name: 'Moving', account_id: accountId });
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('sites')
        .set({ account_id: destination.accountId })
        .where('id', '=', String(field(site.body, 'id')))
        .execute(),
    );
    for (const { client } of [owner, destination.owner]) {
      const { events } = await allOf(client, { type: 'site.transferred' });
      expect(events.map(({ data }) => data)).toEqual([
        {
          site_id: field(site.body, 'id'),
          name: 'Moving',
          origin_account_id: accountId,
          destination_account_id: destination.accountId,
        },
      ]);
    }
  });

  it('reports an operation once, after its last job', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { database } = homeport.platform;
    const { operation, job: first } = await startOperation(accountId);
    const second = await insertJob();
    await database.write(async ({ queries }) => {
      await stateOf(first, 'succeeded')(queries);
      await continueOperation(queries, first, second);
    });
    expect(await endsOf(owner, operation)).toEqual([]);
    await database.write(({ queries }) => stateOf(second, 'succeeded')(queries));
    expect(await endsOf(owner, operation)).toEqual(['operation.succeeded']);
  });

  it('reports the outcome that an operation has at the end of the transaction', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const endedBy = async (...steps: ((job: string) => (queries: Queries) => Promise<unknown>)[]) => {
      const { operation, job } = await startOperation(accountId);
      await homeport.platform.database.write(async ({ queries }) => {
        for (const step of steps) await step(job)(queries);
      });
      return endsOf(owner, operation);
    };
    const state = (wanted: JobState) => (job: string) => stateOf(job, wanted);
    const failure = { code: 'failed', message: 'It failed.' } as const;
    const fail = (job: string) => (queries: Queries) => failOperation(queries, job, failure);
    expect(await endedBy(state('failed'))).toEqual(['operation.failed']);
    // The authority refuses a certificate, and the job has done its work.
    expect(await endedBy(state('succeeded'), fail)).toEqual(['operation.failed']);
    expect(await endedBy(fail, state('succeeded'))).toEqual(['operation.failed']);
    // It was cancelled after the last heartbeat of the worker.
    expect(await endedBy(state('failed'), state('cancelled'))).toEqual(['operation.cancelled']);
  });

  it('keeps positions growing after all events are deleted', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const { cursor } = await allOf(owner.client);
    await homeport.platform.database.write(({ queries }) =>
      deleteEventsBefore(queries, '2999-01-01T00:00:00.000Z', 100_000),
    );
    expect((await allOf(owner.client)).events).toEqual([]);
    await owner.client.post('/sites', { name: 'Later', account_id: accountId });
    const { results } = await pageOf(owner.client, `?cursor=${cursor}`);
    expect(results.map(({ data }) => data.name)).toEqual(['Later']);
  });
});

describe('concurrent transactions', () => {
  onlyOn('postgres', it)(
    'are read in the order of their commits, whichever event has the lower number',
    async () => {
      const { accountId, owner } = await homeport.ownedAccount();
      let { cursor } = await allOf(owner.client);
      const [inserted, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const late = homeport.platform.database.write(async ({ queries }) => {
        await insertSite(queries, accountId, 'Late');
        inserted.resolve();
        await released.promise;
      });
      await inserted.promise;
      await homeport.platform.database.write(({ queries }) => insertSite(queries, accountId, 'Early'));
      const first = await pageOf(owner.client, `?cursor=${cursor}`);
      expect(first.results.map(({ data }) => data.name)).toEqual(['Early']);
      cursor = first.next_cursor;
      released.resolve();
      await late;
      const second = await pageOf(owner.client, `?cursor=${cursor}`);
      expect(second.results.map(({ data }) => data.name)).toEqual(['Late']);
    },
  );

  it('are all seen exactly once by a client that follows the cursor', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    let { cursor } = await allOf(owner.client);
    const seen: unknown[] = [];
    let writing = true;
    const read = (async () => {
      for (let last = false; !last; ) {
        last = !writing;
        const page = await pageOf(owner.client, `?limit=7&cursor=${cursor}`);
        seen.push(...page.results.map(({ data }) => data.name));
        ({ next_cursor: cursor } = page);
        last &&= !page.has_more;
      }
    })();
    const names = Array.from({ length: 120 }, (_, n) => `Site ${n}`);
    const queue = [...names];
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
          const own = name;
          await homeport.platform.database.write(async ({ queries, dialect }) => {
            await insertSite(queries, accountId, own);
            // Transactions of PostgreSQL overlap; SQLite's must not wait for timers.
            if (dialect === 'postgres') await sleep(own.length % 5);
          });
        }
      }),
    );
    writing = false;
    await read;
    expect(seen.toSorted()).toEqual(names.toSorted());
  });
});

type Queries = TestHomeport['platform']['database']['reader'];

function insertSite(queries: Queries, account_id: string, name = 'A site') {
  return queries
    .insertInto('sites')
    .values({ id: crypto.randomUUID(), account_id, name, created_at: new Date().toISOString() })
    .execute();
}

async function insertJob(): Promise<string> {
  const id = crypto.randomUUID();
  await homeport.platform.database.write(({ queries }) =>
    queries
      .insertInto('jobs')
      .values({
        ...{ id, kind: 'nothing', lane: null, payload: '{}', max_attempts: 1, error: null },
        ...{ run_at: '2999-01-01T00:00:00.000Z', lease_until: null, worker_id: null, request_id: null },
        ...{ created_at: '2026-01-01T00:00:00.000Z', started_at: null, finished_at: null },
      })
      .execute(),
  );
  return id;
}

async function startOperation(account_id: string): Promise<{ operation: string; job: string }> {
  const [operation, job] = [crypto.randomUUID(), await insertJob()];
  await homeport.platform.database.write(({ queries }) =>
    queries
      .insertInto('operations')
      .values({
        ...{ id: operation, kind: 'install.copy', job_id: job, account_id },
        ...{ install_id: null, install_name: null, result: null, created_at: '2026-01-01T00:00:00.000Z' },
      })
      .execute(),
  );
  return { operation, job };
}

const stateOf = (job: string, state: JobState) => (queries: Queries) =>
  queries.updateTable('jobs').set({ state }).where('id', '=', job).execute();

/** The types of the events of an operation that a person sees. */
async function endsOf({ client }: Person, operation: string): Promise<string[]> {
  return typesOf((await allOf(client)).events.filter(({ data }) => data.operation_id === operation));
}
