import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { FORBIDDEN, NOT_FOUND } from '../../../../test/refusal.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { expireDeleted } from './jobs.ts';

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

  it('is restored without what belongs to others now', async () => {
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
    await restore(install.id);
    await homeport.idle();
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

  it('is gone for good after 14 days', async () => {
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
    expect((await homeport.ownedAccount()).owner).toBeDefined();
  });

  it('is not seen by strangers and partial users', async () => {
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

  it('nothing is kept of an install without any backup', async () => {
    const install = await website();
    breakFolder(install.id);
    await remove(install.id);
    expect(await listed(install.id)).toBeUndefined();
    mkdirSync(folderOf('snapshots', ''), { recursive: true });
    expect(readdirSync(folderOf('snapshots', ''))).not.toContain(install.id);
  });

  it('a pending install leaves nothing', async () => {
    const name = installName();
    const answer = await owner.client.post('/installs', { name, account_id: accountId });
    await remove(text(answer.body, 'id'));
    expect(await listed(text(answer.body, 'id'))).toBeUndefined();
  });
});
