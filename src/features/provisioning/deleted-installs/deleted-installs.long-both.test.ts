import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import { FORBIDDEN, NOT_FOUND } from '../../../../test/refusal.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { NO_PHP_LIMITS } from '../../../lib/php-limits.ts';
import { removeInstall } from '../../hosts/removal-job.ts';
import { DEFAULT_POLICY } from '../../updates/policy.ts';
import { findPolicy, savePolicy } from '../../updates/policy-store.ts';
import { enforceOffload, findOffload, requestOffload } from '../../websites/offload/store.ts';
import { findPhpLimits, storePhpLimits } from '../../websites/php/limits-store.ts';
import { expireDeleted, removeKeptBackups } from './jobs.ts';
import { columnsOf, parseKept } from './kept.ts';
import { expiredInstalls, expireOldest, findDeleted, isNameBeingFreed, readInstall } from './store.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', it);

let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const folderOf = (kind: string, id: string) => join(homeport.config.dataDir, 'host', kind, id);
const fileOf = (id: string) => join(folderOf('installs', id), 'files', 'index.html');

/** A website with a page. */
async function website(settings: Record<string, unknown> = {}) {
  const install = await homeport.install(owner, accountId, settings);
  writeFileSync(fileOf(install.id), `page of ${install.name}`);
  return install;
}

async function remove(id: string): Promise<void> {
  expect((await owner.client.delete(`/installs/${id}`)).status).toBe(204);
  await homeport.idle();
}

const list = ({ client } = owner, account = accountId) => client.get(`/accounts/${account}/deleted_installs`);
const restore = (id: string, { client } = owner) => client.post(`/deleted_installs/${id}/restore`);

async function listed(id: string): Promise<unknown> {
  const results = field((await list()).body, 'results');
  return Array.isArray(results) ? results.find((one: unknown) => field(one, 'id') === id) : undefined;
}

async function addDomain(path: string, name: string): Promise<{ id: string }> {
  const { body } = await owner.client.post(`${path}/domains`, { name });
  await homeport.idle();
  return { id: text(body, 'id') };
}

const expire = async () => {
  await homeport.platform.database.write((transaction) =>
    homeport.platform.queue.enqueue(transaction, expireDeleted, { payload: {}, lane: null }),
  );
  await homeport.idle();
};

describe('a deleted install', () => {
  it('comes back with its content, backups, domains, site and users', async () => {
    const site = text(
      (await owner.client.post('/sites', { name: 'Shop', account_id: accountId })).body,
      'id',
    );
    const install = await website({ site_id: site, environment: 'production' });
    const path = `/installs/${install.id}`;
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    const bulk = {
      domains: [{ name: 'back.example' }, { name: 'www.back.example', redirect_to: 'back.example' }],
    };
    expect((await owner.client.post(`${path}/domains/bulk`, bulk)).status).toBe(201);
    const protection = { blocked_addresses: ['192.0.2.0/24'] };
    expect((await owner.client.patch(`${path}/protection`, protection)).status).toBe(200);
    const backup = await owner.client.post(`${path}/backups`, {
      description: 'mine',
      notification_emails: [],
    });
    await homeport.idle();
    await remove(install.id);

    expect((await visit(homeport, 'http://back.example/')).status).toBe(404);
    expect(readdirSync(folderOf('installs', ''))).not.toContain(install.id);
    expect(await listed(install.id)).toMatchObject({
      name: install.name,
      environment: 'production',
      domains: ['back.example', 'www.back.example'],
      backup_count: 2,
      state: 'restorable',
      reason: null,
      expires_at: new Date(clock.now().getTime() + 14 * DAY_MS).toISOString(),
    });

    const answer = await restore(install.id);
    expect(answer).toMatchObject({
      status: 202,
      headers: { location: expect.stringContaining('/operations/') },
    });
    await homeport.idle();
    expect((await owner.client.get(path)).body).toMatchObject({
      status: 'active',
      name: install.name,
      environment: 'production',
      site: { id: site },
    });
    for (const host of [`${install.name}.localhost`, 'back.example']) {
      expect(await visit(homeport, `http://${host}/`)).toMatchObject({ body: `page of ${install.name}` });
    }
    expect(await visit(homeport, 'http://www.back.example/')).toMatchObject({ status: 301 });
    const backups = (await owner.client.get(`${path}/backups`)).body;
    expect(field(backups, 'count')).toBe(2);
    expect(JSON.stringify(backups)).toContain(text(backup.body, 'id'));
    expect((await owner.client.get(`${path}/protection`)).body).toMatchObject(protection);
    expect((await partial.client.get(path)).status).toBe(200);
    expect(await listed(install.id)).toBeUndefined();
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'install.restore',
      subject_id: install.id,
    });
  });

  rule('is restored without what belongs to others now', async () => {
    const site = text(
      (await owner.client.post('/sites', { name: 'Taken', account_id: accountId })).body,
      'id',
    );
    const install = await website({ site_id: site, environment: 'production' });
    await owner.client.post(`/installs/${install.id}/domains`, { name: 'moved.example' });
    await remove(install.id);
    const other = await website({ site_id: site, environment: 'production' });
    await owner.client.post(`/installs/${other.id}/domains`, { name: 'moved.example' });
    await restore(install.id);
    await homeport.idle();
    expect((await owner.client.get(`/installs/${install.id}`)).body).toMatchObject({
      status: 'active',
      environment: null,
      site: { id: site },
    });
    expect(await visit(homeport, 'http://moved.example/')).toMatchObject({ body: `page of ${other.name}` });
  });

  it('serves no name that another account owns or holds now', async () => {
    const install = await website();
    const names = ['verified.example', '*.wild.example', 'served.example'];
    const bulk = { domains: names.map((name) => ({ name })) };
    expect((await owner.client.post(`/installs/${install.id}/domains/bulk`, bulk)).status).toBe(201);
    await remove(install.id);
    const stranger = await homeport.ownedAccount();
    const other = await homeport.install(stranger.owner, stranger.accountId);
    for (const name of ['www.wild.example', 'served.example']) {
      await stranger.owner.client.post(`/installs/${other.id}/domains`, { name });
    }
    await homeport.platform.database.write(async ({ queries }) => {
      // As if the stranger had verified them.
      for (const registrable of ['verified.example', 'wild.example', 'served.example']) {
        const account_id = stranger.accountId;
        const now = clock.now().toISOString();
        const present = queries
          .updateTable('domain_proofs')
          .set({ verified_at: now, next_look_at: null })
          .where('account_id', '=', account_id)
          .where('registrable', '=', registrable);
        const { numUpdatedRows } = await present.executeTakeFirstOrThrow();
        if (numUpdatedRows > 0n) continue;
        await queries
          .insertInto('domain_proofs')
          .values({ account_id, registrable, token: 't', created_at: now, verified_at: now })
          .execute();
      }
    });
    const started = await restore(install.id);
    await homeport.idle();
    const operation = await owner.client.get(
      `/operations/${text(started.headers, 'location').split('/').at(-1)}`,
    );
    expect(field(operation.body, 'result')).toMatchObject({ withheld_domains: names.join(', ') });
    const domains = await homeport.platform.database.reader
      .selectFrom('domains')
      .select(['name', 'is_duplicate', 'needs_proof'])
      .where('install_id', '=', install.id)
      .where('is_cname', '=', false)
      .orderBy('seq')
      .execute();
    expect(domains.map(({ name }) => name)).toEqual(names);
    expect(domains.every(({ is_duplicate, needs_proof }) => is_duplicate && needs_proof)).toBe(true);
    for (const host of ['verified.example', 'free.wild.example']) {
      expect((await visit(homeport, `http://${host}/`)).status).toBe(404);
    }
  });

  it('keeps its name for its account, which may use it again', async () => {
    const install = await website();
    await remove(install.id);
    const stranger = await homeport.ownedAccount();
    const create = (person: Person, account_id: string) =>
      person.client.post('/installs', { name: install.name, account_id });
    expect(await create(stranger.owner, stranger.accountId)).toMatchObject({ status: 400 });
    const again = await create(owner, accountId);
    expect(again.status).toBe(201);
    await homeport.idle();
    expect(await restore(install.id)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('in use by another install') },
    });
    const asOperator = homeport.services.deletedInstalls.restoreByName(install.name, null);
    await expect(asOperator).rejects.toThrow(/in use by another install/);
    await remove(text(again.body, 'id'));
    await expect(homeport.services.deletedInstalls.restoreByName(install.name, null)).rejects.toThrow(
      /Several deleted installs .* Add --id/,
    );
    await homeport.services.deletedInstalls.restoreByName(install.name, install.id);
    await homeport.idle();
    expect(await visit(homeport, `http://${install.name}.localhost/`)).toMatchObject({
      body: `page of ${install.name}`,
    });
  });

  rule('is gone for good after 14 days', async () => {
    const install = await website();
    await remove(install.id);
    clock.advance(13 * DAY_MS);
    await expire();
    expect(readdirSync(folderOf('snapshots', install.id))).not.toEqual([]);
    clock.advance(DAY_MS);
    expect(await restore(install.id)).toMatchObject(NOT_FOUND);
    await expire();
    expect(await listed(install.id)).toBeUndefined();
    expect(readdirSync(folderOf('snapshots', ''))).not.toContain(install.id);
  });

  rule('is not seen by strangers and partial users', async () => {
    const install = await website();
    await remove(install.id);
    const partial = await homeport.person(accountId, 'partial');
    const stranger = await homeport.ownedAccount();
    expect(await list(partial)).toMatchObject(FORBIDDEN);
    expect(await list(stranger.owner)).toMatchObject(NOT_FOUND);
    expect(await restore(install.id, partial)).toMatchObject(FORBIDDEN);
    expect(await restore(install.id, stranger.owner)).toMatchObject(NOT_FOUND);
    expect(await restore(crypto.randomUUID())).toMatchObject(NOT_FOUND);
  });
});

describe('what is kept of a deleted install', () => {
  it('includes limits of PHP, the policy of updates, offload and certificates', async () => {
    const install = await website();
    const path = `/installs/${install.id}`;
    const { id: domainId } = await addDomain(path, 'sealed.example');
    const now = clock.now().toISOString();
    const filestore = { bucket: 'shop', bucket_region: 'eu-central-1', path_settings: [] };
    const certificate = {
      ...{
        source: 'THIRD_PARTY' as const,
        chain: 'chain',
        sealed_key: 'sealed',
        not_before: now,
        upload_id: install.id,
      },
      ...{ not_after: new Date(clock.now().getTime() + 90 * DAY_MS).toISOString(), created_at: now },
      ...{ directory_url: null, order_url: null, renewal_id: null, renew_at: now, warned_days: null },
    } as const;
    const policy = { ...DEFAULT_POLICY, core: 'all', pages: ['/shop/'] } as const;
    const limits = { ...NO_PHP_LIMITS, memoryMb: 300 };
    const { database } = homeport.platform;
    await database.write(async ({ queries }) => {
      await queries.deleteFrom('certificates').where('domain_id', '=', domainId).execute();
      await queries
        .insertInto('certificates')
        .values({ domain_id: domainId, ...certificate })
        .execute();
      await storePhpLimits(queries, install.id, limits);
      await savePolicy(queries, install.id, { ...policy, pages: [...policy.pages] }, now);
      await requestOffload(queries, install.id, filestore, now);
      await enforceOffload(queries, install.id, filestore, { latest: true, now });
      const kept = (await readInstall(queries, install.id))?.kept;
      expect(kept).toMatchObject({ php_limits: limits, update_policy: policy, offload: filestore });
      expect(kept?.certificates).toEqual([{ domain: 'sealed.example', ...certificate }]);
      // The edge of this test cannot load the certificate above.
      await queries.deleteFrom('certificates').where('domain_id', '=', domainId).execute();
    });
    await remove(install.id);
    await database.write(async ({ queries }) => {
      const kept = (await findDeleted(queries, install.id))?.kept;
      const changed = JSON.stringify({
        ...kept,
        certificates: [{ domain: 'sealed.example', ...certificate }],
      });
      await queries
        .updateTable('deleted_installs')
        .set({ kept: changed })
        .where('id', '=', install.id)
        .execute();
    });
    await restore(install.id);
    const { reader } = database;
    expect(await findPhpLimits(reader, install.id)).toEqual(limits);
    expect(await findPolicy(reader, install.id)).toEqual(policy);
    expect(await findOffload(reader, install.id)).toMatchObject({ settings: filestore, state: 'in_force' });
    const restored = await reader
      .selectFrom('certificates')
      .innerJoin('domains', 'domains.id', 'certificates.domain_id')
      .select(['certificates.chain', 'certificates.sealed_key', 'certificates.source'])
      .where('domains.name', '=', 'sealed.example')
      .execute();
    expect(restored).toEqual([{ chain: 'chain', sealed_key: 'sealed', source: 'THIRD_PARTY' }]);
    await database.write(({ queries }) =>
      queries.deleteFrom('certificates').where('chain', '=', 'chain').execute(),
    );
    await homeport.idle();
  });

  rule('is read as an earlier version stored it', () => {
    const facts = { site_id: null, environment: null, php_version: '8.3', wordpress_version: null };
    const document = {
      ...facts,
      ...{ defer_wordpress_until: null, mail_limit: null, mail_allowance: null },
      ...{ offload_file_name: 'a', offload_file_content: 'b', created_at: '2026-01-31T09:30:00.000Z' },
      ...{ domains: [], rules: null, backups: [], users: [] },
    };
    expect(parseKept(document)).toEqual(document);
  });

  rule('has only columns among its columns, also as a later version stored it', () => {
    const row = {
      ...{ site_id: null, environment: null, php_version: '8.3', wordpress_version: null },
      ...{ defer_wordpress_until: null, mail_limit: null, mail_allowance: null },
      ...{ offload_file_name: 'a', offload_file_content: 'b', created_at: '2026-01-31T09:30:00.000Z' },
    };
    const facts = { domains: [], rules: null, backups: [], users: [], certificates: [], later: true };
    expect(columnsOf(parseKept({ ...row, ...facts }))).toEqual(row);
  });

  it('is limited for each account: the oldest expires', async () => {
    const stranger = await homeport.ownedAccount();
    const { database } = homeport.platform;
    const first = await homeport.install(stranger.owner, stranger.accountId);
    const second = await homeport.install(stranger.owner, stranger.accountId);
    for (const { id } of [first, second]) {
      expect((await stranger.owner.client.delete(`/installs/${id}`)).status).toBe(204);
      await homeport.idle();
    }
    const now = clock.now().toISOString();
    await database.write(({ queries }) => expireOldest(queries, stranger.accountId, { remaining: 1, now }));
    expect(await restore(first.id, stranger.owner)).toMatchObject(NOT_FOUND);
    expect((await expiredInstalls(database.reader, now, 10)).map(({ id }) => id)).toEqual([first.id]);
    await expire();
    expect(await restore(second.id, stranger.owner)).toMatchObject({ status: 202 });
    await homeport.idle();
  });

  it('is not deleted by a second job', async () => {
    const install = await website();
    await remove(install.id);
    const { database, queue } = homeport.platform;
    const later = new Date(clock.now().getTime() + 15 * DAY_MS).toISOString();
    const isExpired = async () =>
      (await expiredInstalls(database.reader, later, 100)).some(({ id }) => id === install.id);
    expect(await isExpired()).toBe(true);
    const payload = { id: install.id, name: install.name, host_id: null };
    await database.write((transaction) =>
      queue.enqueue(transaction, removeKeptBackups, { payload, lane: install.id, delayMs: DAY_MS }),
    );
    expect(await isExpired()).toBe(false);
  });
});

onlyOn('sqlite', describe)('the name of a deleted install', () => {
  it('is being freed until its website is removed', async () => {
    const { database, queue } = homeport.platform;
    const payload = { id: crypto.randomUUID(), name: installName(), keep_backups: true };
    const isFreed = (id: string) => isNameBeingFreed(database.reader, { id, name: payload.name });
    expect(await isFreed(accountId)).toBe(false);
    await database.write((transaction) =>
      queue.enqueue(transaction, removeInstall, { payload, lane: payload.id, delayMs: DAY_MS }),
    );
    expect(await isFreed(accountId)).toBe(true);
    expect(await isFreed(payload.id)).toBe(false);
  });
});

describe('without a last backup', () => {
  /** Makes backups of an install fail: its folder is a file. */
  function breakFolder(id: string): void {
    renameSync(folderOf('installs', id), `${folderOf('installs', id)}.away`);
  }

  it('an earlier backup is kept, and the reason shown', async () => {
    const install = await website();
    const wanted = { description: 'earlier', notification_emails: [] };
    await owner.client.post(`/installs/${install.id}/backups`, wanted);
    await homeport.idle();
    breakFolder(install.id);
    await remove(install.id);
    expect(await listed(install.id)).toMatchObject({
      state: 'restorable',
      backup_count: 1,
      reason: expect.any(String),
    });
    await restore(install.id);
    await homeport.idle();
    expect(readFileSync(fileOf(install.id), 'utf8')).toBe(`page of ${install.name}`);
  });

  rule('nothing is kept of an install without any backup', async () => {
    const install = await website();
    breakFolder(install.id);
    await remove(install.id);
    expect(await listed(install.id)).toBeUndefined();
    mkdirSync(folderOf('snapshots', ''), { recursive: true });
    expect(readdirSync(folderOf('snapshots', ''))).not.toContain(install.id);
  });

  rule('a pending install leaves nothing', async () => {
    const name = installName();
    const answer = await owner.client.post('/installs', { name, account_id: accountId });
    await remove(text(answer.body, 'id'));
    expect(await listed(text(answer.body, 'id'))).toBeUndefined();
  });
});
