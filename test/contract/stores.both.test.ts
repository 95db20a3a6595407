import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../src/access/memberships.ts';
import type { Queries, Transaction } from '../../src/database/database.ts';
import {
  markNotifications,
  pageOfNotifications,
} from '../../src/features/accounts/notifications/inbox-store.ts';
import type { Notice } from '../../src/features/accounts/notifications/notices.ts';
import {
  insertNotifications,
  NAMED_AT_MOST,
} from '../../src/features/accounts/notifications/placing-store.ts';
import { resolveNotifications } from '../../src/features/accounts/notifications/resolving-store.ts';
import {
  deleteNotificationsBeyond,
  usersWithMoreThan,
} from '../../src/features/accounts/notifications/retention-store.ts';
import { RULES } from '../../src/features/accounts/notifications/rules.ts';
import { missingByInstall, noteMissing } from '../../src/features/backups/missing-store.ts';
import { insertRestoreCheck, nextToCheck } from '../../src/features/backups/restore-check-store.ts';
import {
  findAcmeAccount,
  insertAcmeAccount,
  setAccountUrl,
} from '../../src/features/domains/certificates/acme-account-store.ts';
import {
  dueDomains,
  endAttempt,
  failingDomain,
  forgetFailedOrders,
  retryFailedOrders,
  startAttempt,
  untriedDomains,
} from '../../src/features/domains/certificates/attempts-store.ts';
import { isHeldElsewhere, recordReleased } from '../../src/features/domains/domains/claims-store.ts';
import { pageOfOperations } from '../../src/features/provisioning/operations/store.ts';
import { findRules, saveRules } from '../../src/features/websites/rules/store.ts';
import { openTestDatabase } from '../database.ts';
import { ROWS_AT, storedRows } from '../stored-rows.ts';

// Statements that depend on the database, and that neither the endpoint table nor a file beside their store reaches.

const LATER = '2026-01-03T00:00:00.000Z';
const EVER = '2999-01-01T00:00:00.000Z';
const PAGE = { limit: 20, offset: 0 };

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let rows: ReturnType<typeof storedRows>;
let accountId: string;

beforeAll(async () => {
  database = await openTestDatabase();
  rows = storedRows(database);
  accountId = await rows.account();
});
afterAll(() => database.remove());

const change = <Result>(work: (queries: Queries, transaction: Transaction) => Promise<Result>) =>
  database.write((transaction) => work(transaction.queries, transaction));

/** The scope of a member: the whole account, or the granted installs. */
function scopeOf(userId: string, sees: 'whole' | 'partial'): Scope {
  const role = sees === 'whole' ? 'owner' : 'partial';
  const membership = {
    account_id: accountId,
    role,
    billing: false,
    site_count: 0,
    install_count: 0,
  } as const;
  return { userId, whole: [], partial: [], installIds: null, [sees]: [membership] };
}

describe('notifications', () => {
  let owner: string;
  let partial: string;
  let installs: string[];
  let domains: string[];

  beforeAll(async () => {
    installs = [];
    domains = [];
    for (let index = 0; index < NAMED_AT_MOST + 2; index++) {
      const install = await rows.install(accountId);
      installs.push(install);
      domains.push(await rows.domain(install, `note${index}.example`));
    }
    owner = await rows.member(accountId, 'owner');
    partial = await rows.member(accountId, 'partial', installs.slice(0, 1));
  });

  /** Sets the domains unreachable, which is an event of each, and notifies of these. */
  async function unreachable(affected: string[]): Promise<void> {
    const rule = RULES.get('domain.unreachable');
    if (rule === undefined) throw new Error('There is no such rule.');
    await change(async (queries, transaction) => {
      for (const reached of [true, false])
        await queries.updateTable('domains').set({ reached }).where('id', 'in', affected).execute();
      const events = await queries
        .selectFrom('events')
        .select(['seq', 'subject_id'])
        .where('type', '=', 'domain.unreachable')
        .orderBy('seq', 'desc')
        .limit(affected.length)
        .execute();
      const notices = events.map(
        ({ seq, subject_id }): Notice => ({
          ...{ event_seq: seq, problem: 'domain.unreachable', subject: subject_id ?? '', rule },
          ...{ starter: null, install_name: 'an install', facts: { name: 'x' }, ownersAreMailed: false },
        }),
      );
      await insertNotifications(transaction, notices, { soon: LATER, nextDigest: LATER, again: ROWS_AT });
    });
  }

  const inbox = (scope: Scope, filter = {}) => pageOfNotifications(database.reader, scope, filter, PAGE);

  it('count a problem again, and all further ones in one without a name', async () => {
    await unreachable(domains);
    await unreachable(domains.slice(0, 1));
    const all = await inbox(scopeOf(owner, 'whole'));
    expect(all.count).toBe(NAMED_AT_MOST + 1);
    const counts = Object.fromEntries(all.results.map(({ subject, count }) => [subject, Number(count)]));
    expect(counts).toMatchObject({ [domains[0] ?? '']: 2, '': 2 });
    expect(all.results.find(({ subject }) => subject === '')?.install_id).toBe(null);
  });

  it('show a user with some installs those, and what names no install', async () => {
    const shown = await inbox(scopeOf(partial, 'partial'), {
      category: RULES.get('domain.unreachable')?.category,
    });
    expect(shown.results.map(({ install_id }) => install_id)).toEqual([installs[0]]);
    expect((await inbox({ ...scopeOf(partial, 'partial'), installIds: [] })).count).toBe(0);
  });

  it('are read when nothing has the problem any more, or when that is said', async () => {
    await change((queries) =>
      queries
        .updateTable('domains')
        .set({ reached: true })
        .where('id', '=', domains[0] ?? '')
        .execute(),
    );
    await change((queries) => resolveNotifications(queries, LATER));
    const read = async () => (await inbox(scopeOf(owner, 'whole'), { isRead: true })).results;
    expect((await read()).map(({ subject }) => subject)).toEqual([domains[0]]);
    expect(
      await change((queries) =>
        markNotifications(queries, scopeOf(owner, 'whole'), { isRead: false }, LATER),
      ),
    ).toBe(NAMED_AT_MOST);
    expect(await read()).toHaveLength(NAMED_AT_MOST + 1);
  });

  it('are kept up to a number for each user, the newest', async () => {
    expect(await usersWithMoreThan(database.reader, 2)).toEqual([owner]);
    expect(await change((queries) => deleteNotificationsBeyond(queries, owner, 2, 100))).toBe(
      NAMED_AT_MOST - 1,
    );
    expect((await inbox(scopeOf(owner, 'whole'))).count).toBe(2);
  });
});

describe('orders of certificates', () => {
  const ids = (found: { id: string }[]) => found.map(({ id }) => id);

  it('are due for domains that HTTP-01 can validate, the longest due first', async () => {
    const install = await rows.install(await rows.account());
    const [one, other, wildcard] = [
      await rows.domain(install, 'one.example'),
      await rows.domain(install, 'other.example'),
      await rows.domain(install, '*.one.example'),
    ];
    await change((queries) =>
      queries.updateTable('domains').set({ ssl_reason: 'A wildcard.' }).where('id', '=', wildcard).execute(),
    );
    const due = async () =>
      ids(await dueDomains(database.reader, LATER, 100)).filter((id) => [one, other, wildcard].includes(id));
    expect(await due()).toEqual([one, other]);
    expect(ids(await untriedDomains(database.reader, install))).toEqual([one, other]);
    const order = crypto.randomUUID();
    await change(async (queries) => {
      await startAttempt(queries, one, { order_id: order, next_at: EVER });
      await queries.updateTable('domains').set({ awaits_order: false }).where('id', '=', one).execute();
    });
    expect(await failingDomain(database.reader, LATER, one)).toBeUndefined();
    expect(await due()).toEqual([other]);
    const settled = { failures: 1, next_at: EVER, held_until: LATER };
    expect(await change((queries) => endAttempt(queries, order, settled))).toBe(true);
    expect(await change((queries) => endAttempt(queries, order, settled))).toBe(false);
    expect(await failingDomain(database.reader, ROWS_AT, one)).toBeUndefined();
    expect(await failingDomain(database.reader, LATER, one)).toMatchObject({ id: one });
    // Not before the authority allows it.
    await change((queries) => retryFailedOrders(queries, ROWS_AT));
    expect(await due()).toEqual([other, one]);
    await change((queries) => forgetFailedOrders(queries));
    expect(ids(await untriedDomains(database.reader, install))).toContain(other);
  });

  it('have one account at each authority, whose key is replaced only if it is unreadable', async () => {
    const account = { directory_url: 'https://ca.example/', sealed_key: 'first', created_at: ROWS_AT };
    const found = () => findAcmeAccount(database.reader, account.directory_url);
    await change((queries) => insertAcmeAccount(queries, account, null));
    await change((queries) => setAccountUrl(queries, account.directory_url, 'https://ca.example/1'));
    await change((queries) => insertAcmeAccount(queries, { ...account, sealed_key: 'second' }, null));
    expect(await found()).toEqual({ sealed_key: 'first', account_url: 'https://ca.example/1' });
    await change((queries) => insertAcmeAccount(queries, { ...account, sealed_key: 'second' }, 'first'));
    expect(await found()).toEqual({ sealed_key: 'second', account_url: null });
  });
});

describe('the names of a wildcard', () => {
  it('are held by another account that serves or released one of them', async () => {
    const [holder, other] = [await rows.account(), await rows.account()];
    const held = (name: string, since = ROWS_AT) => isHeldElsewhere(database.reader, other, name, since);
    await rows.domain(await rows.install(holder), 'shop.served.example');
    const released = { name: 'shop.released.example', account_id: holder, released_at: LATER };
    await change((queries) => recordReleased(queries, released));
    await change((queries) => recordReleased(queries, released));
    expect(await held('*.served.example')).toBe(true);
    expect(await held('*.released.example')).toBe(true);
    expect(await held('*.released.example', LATER)).toBe(false);
    expect(await held('*.free.example')).toBe(false);
    expect(await isHeldElsewhere(database.reader, holder, '*.served.example', ROWS_AT)).toBe(false);
  });
});

describe('backups', () => {
  it('that are missing are counted for each install, and noted once', async () => {
    const install = await rows.install(accountId);
    const [one, other] = [await rows.backup(install), await rows.backup(install)];
    await change((queries) => noteMissing(queries, [one], ROWS_AT));
    await change((queries) => noteMissing(queries, [one, other], LATER));
    const counts = async () => (await missingByInstall(database.reader)).map(({ backups }) => backups);
    expect(await counts()).toEqual([2]);
    const since = await database.reader
      .selectFrom('backups')
      .select('missing_since')
      .where('id', '=', one)
      .execute();
    expect(since).toEqual([{ missing_since: ROWS_AT }]);
    await change((queries) => noteMissing(queries, [one, other], null));
    expect(await counts()).toEqual([]);
  });

  it('are restored in turn to check them: that of the install whose check is oldest', async () => {
    const place = await openTestDatabase();
    const { account, install, backup } = storedRows(place);
    try {
      const owner = await account();
      const [first, second] = [await install(owner), await install(owner)];
      await backup(first);
      const [ofFirst, ofSecond] = [await backup(first), await backup(second)];
      const checked = async (install_id: string, backup_id: string, reason: string | null) =>
        place.write(({ queries }) =>
          insertRestoreCheck(queries, {
            ...{ id: crypto.randomUUID(), install_id, backup_id, took_ms: 1, reason, created_at: ROWS_AT },
          }),
        );
      const next = () => nextToCheck(place.reader);
      expect(await next()).toMatchObject({ install_id: first, backup_id: ofFirst });
      await checked(first, ofFirst, 'It is damaged.');
      expect(await next()).toMatchObject({ install_id: second, backup_id: ofSecond });
      await checked(second, ofSecond, null);
      // After a success, the failed one is next.
      expect(await next()).toMatchObject({ install_id: first, backup_id: ofFirst });
    } finally {
      await place.remove();
    }
  });
});

it('operations are found by their status, which can be a failure of work that was done', async () => {
  const of = { account_id: accountId, install_id: await rows.install(accountId) };
  const done = await rows.operation(of, 'succeeded');
  const failed = [await rows.operation(of, 'succeeded', 'refused'), await rows.operation(of, 'failed')];
  const user = await rows.member(accountId, 'partial', [of.install_id]);
  const found = async (scope: Scope, status: string) => {
    const page = await pageOfOperations(database.reader, scope, { install_id: of.install_id, status }, PAGE);
    return page.results.map(({ id, status }) => [id, status]);
  };
  for (const scope of [scopeOf(user, 'partial'), scopeOf(user, 'whole')]) {
    expect(await found(scope, 'failed')).toEqual(failed.map((id) => [id, 'failed']));
    expect(await found(scope, 'succeeded')).toEqual([[done, 'succeeded']]);
    expect(await found(scope, 'queued')).toEqual([]);
  }
});

it('rules of a website are replaced whole', async () => {
  const install = await rows.install(accountId);
  const rules = {
    protection: { a: 1 },
    sealed_password: 'x',
    password_hash: 'y',
    redirects: [],
    cache_rules: null,
  };
  await change((queries) => saveRules(queries, install, rules, ROWS_AT));
  await change((queries) =>
    saveRules(queries, install, { ...rules, sealed_password: null, redirects: [{ b: 2 }] }, LATER),
  );
  expect(await findRules(database.reader, install)).toMatchObject({
    sealed_password: null,
    redirects: [{ b: 2 }],
  });
});
