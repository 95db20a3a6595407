import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestDatabase, silent } from '../../test/database.ts';
import { onlyOn } from '../../test/only-on.ts';
import type { DatabaseChange } from './change-feed.ts';
import type { Database, Queries } from './database.ts';
import { openDatabase } from './open.ts';

const now = '2026-01-02T03:04:05.678Z';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
/** The same database, opened as by another process. */
let other: Database;
let account: string;
let site: string;
let install: string;

beforeAll(async () => {
  database = await openTestDatabase();
  other = openDatabase(database.place.settings, silent);
});
afterAll(async () => {
  await other.close();
  await database.remove();
});
beforeEach(async () => {
  [account, site, install] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  await other.write(async ({ queries }) => {
    await queries.insertInto('accounts').values({ id: account, name: 'One', created_at: now }).execute();
    await addSite(queries);
    await queries
      .insertInto('installs')
      .values({
        id: install,
        account_id: account,
        site_id: site,
        environment: 'production',
        name: `i${install}`,
        status: 'active',
        php_version: null,
        stable_ips: null,
        offload_file_name: 'a',
        offload_file_content: 'b',
        created_at: now,
      })
      .execute();
  });
});

const addSite = (queries: Queries, id = site) =>
  queries.insertInto('sites').values({ id, account_id: account, name: 'A site', created_at: now }).execute();

/** Follows the feed of `of`, which is on and up to date when this resolves. Leaves out changes of other tests' accounts. */
async function follow(of: Database = database) {
  const seen: (DatabaseChange | 'resync')[] = [];
  const unsubscribe = of.changes.subscribe({
    changed: (change) => change.account_id === account && seen.push(change),
    resync: () => seen.push('resync'),
  });
  const until = async (expected: unknown[]) => {
    await vi.waitFor(() => expect(seen).toEqual(expected), { timeout: 20_000, interval: 10 });
    seen.length = 0;
  };
  await until(['resync']);
  return { seen, until, unsubscribe };
}

function change(topic: string, more: Partial<DatabaseChange> = {}): DatabaseChange {
  const nothing = { install_id: null, id: null, user_id: null };
  return expect.objectContaining({ ...nothing, topic, account_id: account, ...more });
}

function addUser(queries: Queries, id: string) {
  const person = { email: `${id}@x.example`, email_key: `${id}@x.example`, first_name: 'A', last_name: 'B' };
  return queries
    .insertInto('users')
    .values({ id, ...person, phone: null, password_hash: null, created_at: now })
    .execute();
}

const addDomain = (queries: Queries, id: string) =>
  queries
    .insertInto('domains')
    .values({
      id,
      install_id: install,
      name: `${id}.example`,
      is_cname: false,
      is_primary: true,
      is_duplicate: false,
      redirect_to_id: null,
      reached: null,
      checked_at: null,
      ssl_reason: null,
      created_at: now,
    })
    .execute();

const addJob = (queries: Queries, id: string, lane: string | null) =>
  queries
    .insertInto('jobs')
    .values({
      id,
      kind: 'apply_install',
      lane,
      payload: '{}',
      max_attempts: 3,
      run_at: now,
      lease_until: null,
      worker_id: null,
      error: null,
      request_id: null,
      created_at: now,
      started_at: null,
      finished_at: null,
    })
    .execute();

const addOperation = (queries: Queries, jobId: string, installId: string) =>
  queries
    .insertInto('operations')
    .values({
      id: jobId,
      kind: 'install.apply',
      job_id: jobId,
      account_id: account,
      install_id: installId,
      install_name: 'x',
      result: null,
      created_at: now,
    })
    .execute();

describe('the change feed', () => {
  it('reports commits of this and other processes, and nothing rolled back', async () => {
    const feed = await follow();
    const [mine, theirs] = [crypto.randomUUID(), crypto.randomUUID()];
    await expect(
      database.write(async ({ queries }) => {
        await addSite(queries, crypto.randomUUID());
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await database.write(({ queries }) => addSite(queries, mine));
    await other.write(({ queries }) => addSite(queries, theirs));
    await feed.until([change('site', { id: mine }), change('site', { id: theirs })]);
    feed.unsubscribe();
  });

  it('reports each topic with its account and ids', async () => {
    const feed = await follow();
    const [user, domain, backup, report, job] = Array.from({ length: 5 }, () => crypto.randomUUID());
    if (!user || !domain || !backup || !report || !job) throw new Error('no ids');
    const step = async (work: (queries: Queries) => Promise<unknown>, told: unknown[]) => {
      await other.write(({ queries }) => work(queries));
      await feed.until(told);
    };
    const ofInstall = { install_id: install };

    await step(
      (q) => q.updateTable('accounts').set({ name: 'Two' }).where('id', '=', account).execute(),
      [change('account', { id: account })],
    );
    await step(
      (q) =>
        q.updateTable('accounts').set({ requires_second_factor: true }).where('id', '=', account).execute(),
      [change('account', { id: account })],
    );
    await step(
      (q) => q.updateTable('sites').set({ name: 'B' }).where('id', '=', site).execute(),
      [change('site', { id: site })],
    );
    await step(
      (q) => q.updateTable('installs').set({ status: 'failed' }).where('id', '=', install).execute(),
      [change('install', { ...ofInstall, id: install })],
    );
    await step(
      async (q) => {
        await addUser(q, user);
        await q
          .insertInto('memberships')
          .values({
            account_id: account,
            user_id: user,
            role: 'partial',
            billing: false,
            invite_accepted: true,
            created_at: now,
          })
          .execute();
      },
      [change('member', { id: user, user_id: user })],
    );
    await step(
      (q) => q.updateTable('users').set({ mfa_enabled: true }).where('id', '=', user).execute(),
      [change('member', { id: user, user_id: user })],
    );
    await step(
      (q) =>
        q
          .insertInto('install_grants')
          .values({ install_id: install, account_id: account, user_id: user })
          .execute(),
      [change('member', { id: user, user_id: user })],
    );
    await step((q) => addDomain(q, domain), [change('domain', { ...ofInstall, id: domain })]);
    await step(
      (q) =>
        q
          .insertInto('certificates')
          .values({
            domain_id: domain,
            source: 'SELF_SIGNED',
            chain: 'c',
            sealed_key: 'k',
            not_before: now,
            not_after: now,
            directory_url: null,
            order_url: null,
            renewal_id: null,
            renew_at: null,
            warned_days: null,
            created_at: now,
          })
          .execute(),
      [change('domain', { ...ofInstall, id: domain })],
    );
    await step(
      (q) =>
        q
          .insertInto('backups')
          .values({
            id: backup,
            install_id: install,
            description: '',
            notification_emails: '[]',
            status: 'requested',
            bytes: null,
            files: null,
            sha256: null,
            reason: null,
            requested_by: null,
            created_at: now,
            finished_at: null,
          })
          .execute(),
      [change('backup', { ...ofInstall, id: backup })],
    );
    await step(
      (q) =>
        q
          .insertInto('domain_reports')
          .values({
            id: report,
            install_id: install,
            domain_id: domain,
            complete: false,
            report: '{}',
            created_at: now,
          })
          .execute(),
      [change('report', { ...ofInstall, id: report })],
    );
    await step(
      (q) =>
        q
          .insertInto('offload_settings')
          .values({
            install_id: install,
            settings: null,
            requested: '{}',
            state: 'requested',
            reason: null,
            updated_at: now,
          })
          .execute(),
      [change('offload', ofInstall)],
    );
    await step(
      async (q) => {
        await addJob(q, job, install);
        await addOperation(q, job, install);
      },
      [change('operation', { ...ofInstall, id: job })],
    );
    await step(
      (q) => q.updateTable('operations').set({ progress_done: 7 }).where('id', '=', job).execute(),
      [change('operation', { ...ofInstall, id: job })],
    );
    await step(
      (q) => q.updateTable('jobs').set({ state: 'running' }).where('id', '=', job).execute(),
      [change('operation', { ...ofInstall, id: job })],
    );
    await step(
      (q) =>
        q
          .insertInto('activity')
          .values({
            id: crypto.randomUUID(),
            account_id: account,
            at: now,
            action: 'site.create',
            subject_id: site,
            subject_name: 'x',
            install_id: null,
            details: null,
            user_id: user,
            user_name: 'A B',
            means: 'api',
            credential_id: null,
            credential_name: null,
            address: null,
            request_id: null,
          })
          .execute(),
      [change('activity', { user_id: user })],
    );
    feed.unsubscribe();
  });

  it('is silent about kept counters, leases, and jobs without operation', async () => {
    const [job, unseen] = [crypto.randomUUID(), crypto.randomUUID()];
    await other.write(async ({ queries }) => {
      await addJob(queries, job, install);
      await addOperation(queries, job, install);
      await addJob(queries, unseen, install);
    });
    const feed = await follow();
    const last = crypto.randomUUID();
    await other.write(async ({ queries }) => {
      await queries.updateTable('accounts').set({ site_count: 7 }).where('id', '=', account).execute();
      await queries.updateTable('jobs').set({ lease_until: now }).where('id', '=', job).execute();
      await queries.updateTable('jobs').set({ state: 'queued' }).where('id', '=', job).execute();
      await queries.updateTable('jobs').set({ state: 'running' }).where('id', '=', unseen).execute();
      for (const lane of ['maintenance', null, crypto.randomUUID()]) {
        await addJob(queries, crypto.randomUUID(), lane);
      }
      await addSite(queries, last);
    });
    await feed.until([change('site', { id: last })]);
    feed.unsubscribe();
  });

  it('reports a deletion, whatever it cascades to', async () => {
    const [user, domain] = [crypto.randomUUID(), crypto.randomUUID()];
    await other.write(async ({ queries }) => {
      await addDomain(queries, domain);
      await addUser(queries, user);
      await queries
        .insertInto('memberships')
        .values({
          account_id: account,
          user_id: user,
          role: 'owner',
          billing: true,
          invite_accepted: true,
          created_at: now,
        })
        .execute();
    });
    const feed = await follow();
    await other.write(({ queries }) => queries.deleteFrom('installs').where('id', '=', install).execute());
    await vi.waitFor(
      () => expect(feed.seen).toContainEqual(change('install', { install_id: install, id: install })),
      20_000,
    );
    feed.seen.length = 0;
    await other.write(({ queries }) => queries.deleteFrom('sites').where('id', '=', site).execute());
    await feed.until([change('site', { id: site })]);
    await other.write(({ queries }) => queries.deleteFrom('accounts').where('id', '=', account).execute());
    await feed.until([change('member', { id: user, user_id: user })]);
    feed.unsubscribe();
  });

  it('notifies each listener from subscribing until unsubscribing', async () => {
    const [first, second] = [await follow(), await follow()];
    const [one, two] = [crypto.randomUUID(), crypto.randomUUID()];
    first.unsubscribe();
    await other.write(({ queries }) => addSite(queries, one));
    await second.until([change('site', { id: one })]);
    expect(first.seen).toEqual([]);
    second.unsubscribe();
    await other.write(({ queries }) => addSite(queries, two));
    const third = await follow();
    expect(third.seen).toEqual([]);
    third.unsubscribe();
  });

  onlyOn('postgres', it)('reports a possible gap after the connection was cut', async () => {
    const feed = await follow();
    const admin = new pg.Client(database.place.settings.databaseUrl ?? '');
    await admin.connect();
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'homeport changes' and datname = current_database()",
    );
    await admin.end();
    await feed.until(['resync']);
    const after = crypto.randomUUID();
    await other.write(({ queries }) => addSite(queries, after));
    await feed.until([change('site', { id: after })]);
    feed.unsubscribe();
  });

  onlyOn('postgres', it)('treats an invalid notification on its channel as a gap', async () => {
    const feed = await follow();
    await sql`select pg_notify('homeport_changes', 'x')`.execute(other.reader);
    await feed.until(['resync']);
    const after = crypto.randomUUID();
    await other.write(({ queries }) => addSite(queries, after));
    await feed.until([change('site', { id: after })]);
    feed.unsubscribe();
  });

  onlyOn('sqlite', it)('reports a possible gap if rows are gone', async () => {
    const feed = await follow();
    const last = crypto.randomUUID();
    await other.write(async ({ queries }) => {
      await addSite(queries, crypto.randomUUID());
      await queries.deleteFrom('changes').execute();
      await addSite(queries, last);
    });
    await feed.until(['resync', change('site', { id: last })]);
    feed.unsubscribe();
  });
});
