import Type from 'typebox';
import { Parse } from 'typebox/value';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createAgent, field } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { mostlyOn } from '../../../../test/only-on.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import type { OperationKind } from '../../../lib/operation.ts';
import { mailNotifications } from './jobs.ts';
import { resolveNotifications } from './resolving-store.ts';
import {
  deleteNotificationsBefore,
  deleteNotificationsBeyond,
  usersWithMoreThan,
} from './retention-store.ts';

let clock: ManualClock;
let homeport: TestHomeport;
/** An account with an owner, and two installs. */
let accountId: string;
let owner: Person;
let shop: { id: string; name: string };
let blog: { id: string; name: string };

beforeAll(async () => {
  clock = manualClock(new Date('2026-05-10T12:00:00Z'));
  homeport = await startTestHomeport({ clock });
  ({ accountId, owner } = await homeport.ownedAccount());
  [shop, blog] = [await homeport.install(owner, accountId), await homeport.install(owner, accountId)];
  await homeport.setPassword(owner, 'a long password of the owner');
});
afterAll(() => homeport?.remove());

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const pageSchema = Type.Object({
  count: Type.Integer(),
  results: Type.Array(
    Type.Object({
      id: Type.String(),
      install_id: Type.Union([Type.String(), Type.Null()]),
      title: Type.String(),
      message: Type.Union([Type.String(), Type.Null()]),
      count: Type.Integer(),
      read: Type.Boolean(),
    }),
  ),
});

async function inbox({ client }: { client: Client }, query = '') {
  const answer = await client.get(`/user/notifications${query}`);
  expect(answer.status).toBe(200);
  return Parse(pageSchema, answer.body).results;
}

const readAll = ({ client }: Person) => client.post('/user/notifications/read_all');

/** Ends an operation of each install, as its job would. `starter`: the user whose request started it. */
async function end(
  installs: readonly { id: string; name: string }[],
  kind: OperationKind,
  state: 'failed' | 'succeeded',
  starter?: Person,
): Promise<void> {
  const { database } = homeport.platform;
  const request = crypto.randomUUID();
  const ids = installs.map(() => crypto.randomUUID());
  const now = clock.now().toISOString();
  await database.write(async ({ queries }) => {
    for (const [index, install] of installs.entries()) {
      const id = ids[index] ?? '';
      await queries
        .insertInto('jobs')
        .values({
          ...{ id, kind: 'nothing', lane: null, payload: '{}', max_attempts: 1, error: null },
          ...{ run_at: '2999-01-01T00:00:00.000Z', lease_until: null, worker_id: null, created_at: now },
          ...{ request_id: starter ? request : null, started_at: null, finished_at: null },
          reason: state === 'failed' ? 'The disk is full.' : null,
        })
        .execute();
      await queries
        .insertInto('operations')
        .values({
          ...{ id, kind, job_id: id, account_id: accountId, install_id: install.id },
          ...{ install_name: install.name, result: null, created_at: now },
        })
        .execute();
    }
    if (starter) {
      await queries
        .insertInto('activity')
        .values({
          ...{ id: crypto.randomUUID(), account_id: accountId, at: now, action: 'backup.create' },
          ...{ subject_id: null, subject_name: 'x', install_id: null, details: null },
          ...{ user_id: starter.userId, user_name: 'x', means: 'api', credential_id: null },
          ...{ credential_name: null, address: null, request_id: request },
        })
        .execute();
    }
  });
  await database.write(({ queries }) =>
    queries.updateTable('jobs').set({ state }).where('id', 'in', ids).execute(),
  );
  await homeport.services.eventPlacement.place();
}

/** Sends the emails that are due after some time. Returns those of a person since then. */
async function mailsAfter(person: Person, ms: number) {
  // Mails of another kind may be on their way, for example about a new credential.
  await homeport.idle();
  const before = mailsTo(homeport, person.email).length;
  clock.advance(ms);
  const { database, queue } = homeport.platform;
  await database.write((transaction) =>
    queue.enqueue(transaction, mailNotifications, { payload: {}, lane: null }),
  );
  await homeport.idle();
  return mailsTo(homeport, person.email).slice(before);
}

describe('an inbox', () => {
  it('counts the same problem of an install, and has it again after it was read', async () => {
    await end([shop], 'backup.create', 'failed');
    await end([shop], 'backup.create', 'failed');
    const [found, ...more] = await inbox(owner);
    expect(more).toEqual([]);
    expect(found).toMatchObject({
      ...{ title: `The backup of ${shop.name} failed`, message: 'The disk is full.' },
      ...{ install_id: shop.id, count: 2, read: false },
    });
    expect((await owner.client.patch(`/user/notifications/${found?.id}`, { read: true })).body).toMatchObject(
      {
        read: true,
      },
    );
    await end([shop], 'backup.create', 'failed');
    expect((await inbox(owner)).map(({ count, read }) => [count, read])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(await inbox(owner, '?read=true&category=backups')).toHaveLength(1);
    expect(await inbox(owner, '?category=domains')).toEqual([]);
    // Two unread ones about the same problem would be one.
    expect((await owner.client.patch(`/user/notifications/${found?.id}`, { read: false })).status).toBe(409);
    expect(field((await readAll(owner)).body, 'count')).toBe(1);
    expect(await inbox(owner, '?read=false')).toEqual([]);
  });

  it('has one notification for an outage of many installs', async () => {
    const many = Array.from({ length: 12 }, (_, index) => ({
      id: crypto.randomUUID(),
      name: `many${index}`,
    }));
    await end(many, 'backup.create', 'failed');
    await end(many, 'backup.create', 'failed');
    const found = await inbox(owner, '?read=false');
    expect(found).toHaveLength(6);
    expect(found.filter(({ install_id }) => install_id === null)).toMatchObject([
      { title: 'Backups of installs failed', count: 14, message: null },
    ]);
    await readAll(owner);
  });

  mostlyOn('sqlite', it)('tells the person who started the work, and of failures the owners', async () => {
    const starter = await homeport.person(accountId, 'full');
    const other = await homeport.person(accountId, 'full');
    await end([shop], 'install.import', 'succeeded', starter);
    await end([shop], 'install.import', 'failed', starter);
    await end([blog], 'backup.create', 'succeeded');
    const titles = async (person: Person) => (await inbox(person, '?read=false')).map(({ title }) => title);
    expect(await titles(starter)).toEqual([
      `The import into ${shop.name} failed`,
      `The import into ${shop.name} is finished`,
    ]);
    expect(await titles(owner)).toEqual([`The import into ${shop.name} failed`]);
    expect(await titles(other)).toEqual([]);
    await readAll(owner);
  });

  it('shows what its user may see, and nothing after access ended', async () => {
    const partial = await homeport.person(accountId, 'partial', [shop.id]);
    const outsider = await homeport.person();
    await end([shop], 'backup.restore', 'failed');
    await end([blog], 'backup.restore', 'failed');
    const { database } = homeport.platform;
    await database.write(async ({ queries }) => {
      await queries.updateTable('domains').set({ reached: true }).where('install_id', '=', blog.id).execute();
      await queries
        .updateTable('domains')
        .set({ reached: false })
        .where('install_id', '=', blog.id)
        .execute();
    });
    await homeport.services.eventPlacement.place();
    const [found, ...more] = await inbox(partial);
    expect([found?.install_id, more]).toEqual([shop.id, []]);
    expect((await inbox(owner, '?read=false')).map(({ title }) => title)[0]).toContain('no longer leads to');
    expect(await inbox(outsider)).toEqual([]);

    // Notifications of others look like none.
    for (const person of [owner, outsider]) {
      const answer = await person.client.patch(`/user/notifications/${found?.id}`, { read: true });
      expect(answer.status).toBe(404);
    }
    await readAll(owner);
    expect((await inbox(partial))[0]?.read).toBe(false);

    // A credential for one install shows its notifications alone, and changes no preferences.
    const limits = { readOnly: false, accountId, installs: { by: 'id', values: [blog.id] } } as const;
    const credential = await homeport.services.credentials.issue(owner.userId, { name: 'limited', limits });
    const limited = homeport.clientOf(credential);
    expect(new Set((await inbox({ client: limited })).map(({ install_id }) => install_id))).toEqual(
      new Set([blog.id]),
    );
    expect((await limited.patch('/user/notification_preferences', { backups: 'never' })).status).toBe(403);

    await database.write(({ queries }) =>
      queries.deleteFrom('install_grants').where('user_id', '=', partial.userId).execute(),
    );
    expect(await inbox(partial)).toEqual([]);
    expect((await partial.client.patch(`/user/notifications/${found?.id}`, { read: true })).status).toBe(404);
    await database.write(({ queries }) =>
      queries.deleteFrom('memberships').where('user_id', '=', partial.userId).execute(),
    );
    const left = await database.reader
      .selectFrom('notifications')
      .select('id')
      .where('user_id', '=', partial.userId)
      .execute();
    expect(left).toEqual([]);
  });
});

describe('a notification of a problem that has ended', () => {
  const unread = async () => (await inbox(owner, '?read=false')).map(({ title }) => title);
  const change = async (
    table: 'domains',
    values: { reached?: boolean; ssl_status?: 'failed' | 'active' },
  ) => {
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable(table).set(values).where('install_id', '=', shop.id).execute(),
    );
    await homeport.services.eventPlacement.place();
  };
  const sweep = () =>
    homeport.platform.database.write(({ queries }) =>
      resolveNotifications(queries, clock.now().toISOString()),
    );

  it('is read after a success of the same work on the same install, and not emailed', async () => {
    await readAll(owner);
    await end([shop, blog], 'backup.create', 'failed');
    await end([shop], 'backup.restore', 'failed');
    await end([blog], 'backup.create', 'succeeded');
    expect(await unread()).toEqual([
      `The restore of ${shop.name} failed`,
      `The backup of ${shop.name} failed`,
    ]);
    await end([shop], 'backup.restore', 'succeeded');
    await end([shop], 'backup.create', 'succeeded');
    expect(await unread()).toEqual([]);
    expect(await mailsAfter(owner, 2 * MINUTE_MS)).toEqual([]);
    expect((await inbox(owner, '?read=true')).slice(0, 3).map(({ title }) => title)).toContain(
      `The restore of ${shop.name} failed`,
    );
    // The next failure is a new one.
    await end([shop], 'backup.create', 'failed');
    expect(await unread()).toEqual([`The backup of ${shop.name} failed`]);
    await end([shop], 'backup.create', 'succeeded');
  });

  it('is read when nothing has the problem any more, also that about many things', async () => {
    await change('domains', { ssl_status: 'failed', reached: true });
    await change('domains', { reached: false });
    await sweep();
    expect(await unread()).toHaveLength(2);
    await change('domains', { ssl_status: 'active' });
    await sweep();
    expect(await unread()).toEqual([expect.stringContaining('no longer leads to')]);
    await change('domains', { reached: true });
    await sweep();
    expect(await unread()).toEqual([]);

    const many = [];
    for (let at = 0; at < 7; at++) many.push(await homeport.install(owner, accountId));
    await end(many, 'archive.create', 'failed');
    expect(await unread()).toHaveLength(6);
    await end(many.slice(1), 'archive.create', 'succeeded');
    expect(await unread()).toHaveLength(2);
    await owner.client.delete(`/installs/${many[0]?.id}`);
    await homeport.idle();
    await homeport.services.eventPlacement.place();
    expect(await unread()).toEqual([]);
  });
});

describe('emails', () => {
  mostlyOn('sqlite', it)('gather what happens together, and leave out what was read', async () => {
    await end([shop, blog], 'install.copy', 'failed');
    await end([shop], 'install.apply', 'failed');
    const [applied] = await inbox(owner, '?read=false');
    await owner.client.patch(`/user/notifications/${applied?.id}`, { read: true });
    expect(await mailsAfter(owner, 0)).toEqual([]);
    const mails = await mailsAfter(owner, MINUTE_MS);
    expect(mails.map(({ subject }) => subject)).toEqual(['2 notifications from Homeport']);
    expect(mails[0]?.text).toContain(
      `The copy into ${shop.name} failed\n  The disk is full.\n  Account An account`,
    );
    expect(mails[0]?.text).toContain(`/installs/${blog.id}`);
    expect(mails[0]?.text).not.toContain('Settings of');
    // The same problem again counts, and is emailed again only after a while.
    await end([shop], 'install.copy', 'failed');
    expect(await mailsAfter(owner, MINUTE_MS)).toEqual([]);
    clock.advance(13 * HOUR_MS);
    await end([shop], 'install.copy', 'failed');
    expect(await mailsAfter(owner, MINUTE_MS)).toHaveLength(1);
    await readAll(owner);
  });

  mostlyOn('sqlite', it)('follow the choice of each user', async () => {
    const full = await homeport.person(accountId, 'full');
    await homeport.setPassword(full, 'a long password of another');
    await end([shop], 'backup.delete', 'failed');
    expect(await inbox(full, '?read=false')).toHaveLength(1);
    expect(await mailsAfter(full, MINUTE_MS)).toEqual([]);
    const answer = await full.client.patch('/user/notification_preferences', { backups: 'daily' });
    const chosen = field(answer.body, 'categories');
    expect(chosen).toContainEqual(expect.objectContaining({ category: 'backups', email: 'daily' }));
    await end([blog], 'backup.delete', 'failed');
    expect(await mailsAfter(full, MINUTE_MS)).toEqual([]);
    const [mail, ...more] = await mailsAfter(full, DAY_MS);
    expect([mail?.subject, more]).toEqual([`A backup of ${blog.name} could not be deleted`, []]);
    expect((await full.client.patch('/user/notification_preferences', { backups: 'often' })).status).toBe(
      400,
    );
    await readAll(owner);
  });

  mostlyOn('sqlite', it)('are limited for each user and hour', async () => {
    const user = await homeport.person(accountId, 'owner');
    await homeport.setPassword(user, 'a long password of another');
    let sent = 0;
    for (let round = 0; round < 12; round++) {
      await end([{ id: crypto.randomUUID(), name: `r${round}` }], 'site.transfer', 'failed');
      await readAll(owner);
      sent += (await mailsAfter(user, MINUTE_MS)).length;
      await readAll(user);
    }
    expect(sent).toBe(10);
  });

  it('are switched off by the link in the email, by one click or a page, without signing in', async () => {
    const user = await homeport.person(accountId, 'owner');
    await homeport.setPassword(user, 'a long password of another');
    await end([shop], 'install.delete', 'failed');
    const [mail] = await mailsAfter(user, MINUTE_MS);
    const link = /https:\S+\/unsubscribe\/\S+/.exec(mail?.text ?? '')?.[0] ?? '';
    const path = new URL(link).pathname;
    const agent = createAgent(homeport.ca);
    const call = async (method: 'GET' | 'POST', at: string) => {
      const body = method === 'GET' ? {} : { body: 'List-Unsubscribe=One-Click', headers: FORM };
      const answer = await request(homeport.origin + at, { method, dispatcher: agent, ...body });
      return { status: answer.statusCode, text: await answer.body.text() };
    };
    expect((await call('GET', path)).text).toContain('<form method="post">');
    const emailOf = async () =>
      JSON.stringify((await user.client.get('/user/notification_preferences')).body).match(
        /"operations".*?"email":"(\w+)"/,
      )?.[1];
    expect(await emailOf()).toBe('default');
    // Forged: another user, another category, another signature.
    const [prefix, token = ''] = path.split('/unsubscribe/');
    const [, categories, signature = ''] = token.split('.');
    for (const forged of [
      `${owner.userId}.${categories}.${signature}`,
      `${user.userId}.backups.${signature}`,
      `${user.userId}.${categories}.${signature.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'))}`,
      'nonsense',
    ]) {
      expect((await call('POST', `${prefix}/unsubscribe/${forged}`)).status).toBe(404);
    }
    expect(await emailOf()).toBe('default');
    expect((await call('POST', path)).status).toBe(200);
    expect(await emailOf()).toBe('never');
    await end([blog], 'install.delete', 'failed');
    expect(await mailsAfter(user, MINUTE_MS)).toEqual([]);
    await agent.close();
  });
});

it('keeps the newest notifications of each user, for a time', async () => {
  const { database } = homeport.platform;
  const keeper = await homeport.person(accountId, 'owner');
  for (const kind of ['backup.create', 'backup.restore', 'backup.delete'] as const) {
    clock.advance(DAY_MS);
    await end([shop], kind, 'failed');
  }
  const titles = async () => (await inbox(keeper)).map(({ title }) => title);
  expect(await titles()).toHaveLength(3);
  expect(await usersWithMoreThan(database.reader, 2)).toContain(keeper.userId);
  await database.write(({ queries }) => deleteNotificationsBeyond(queries, keeper.userId, 2, 500));
  expect(await titles()).toHaveLength(2);
  await database.write(({ queries }) => deleteNotificationsBefore(queries, '2999-01-01T00:00:00.000Z', 500));
  expect(await titles()).toEqual([]);
});
