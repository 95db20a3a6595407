import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { mostlyOn } from '../../../../test/only-on.ts';
import { FORBIDDEN, NOT_FOUND } from '../../../../test/refusal.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { installCalls } from './installs.fixture.ts';

let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  clock = manualClock(new Date());
  // Without backups of deleted installs: see provisioning/deleted-installs.
  homeport = await startTestHomeport({ clock, environment: { HOMEPORT_DELETED_DAYS: '0' } });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const { create, newSite, read } = installCalls(() => ({ accountId, owner }));

mostlyOn('sqlite', describe)('DELETE /installs/{install_id}', () => {
  it('leaves nothing on disk or in the database, and frees the name', async () => {
    const install = await homeport.install(owner, accountId, { site_id: await newSite() });
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    const path = `/installs/${install.id}`;
    const domain = text((await owner.client.post(`${path}/domains`, { name: 'gone.example' })).body, 'id');
    await owner.client.post(`${path}/domains/${domain}/check_status`);
    await owner.client.post(`${path}/purge_cache`, { type: 'object' });
    await owner.client.post(`${path}/backups`, { description: 'x', notification_emails: [] });
    await homeport.idle();
    expect(filesNaming(install.id)).not.toEqual([]);
    expect(await partial.client.delete(path)).toMatchObject(FORBIDDEN);

    const deleted = await owner.client.delete(path);
    expect(deleted.status).toBe(204);
    expect(deleted.body).toBeUndefined();
    expect(await owner.client.get(path)).toMatchObject(NOT_FOUND);
    expect(await owner.client.delete(path)).toMatchObject(NOT_FOUND);
    await homeport.idle();
    expect(filesNaming(install.id)).toEqual([]);
    expect(await tablesNaming(install.id, domain)).toEqual(['jobs', 'operations']);
    for (const name of [`${install.name}.localhost`, 'gone.example']) {
      expect((await visit(homeport, `http://${name}/`)).status).toBe(404);
    }
    expect(
      (await owner.client.get(`/accounts/${accountId}/account_users/${partial.userId}`)).body,
    ).toMatchObject({
      installs: [],
    });

    expect((await create({ name: install.name })).status).toBe(201);
    await homeport.idle();
    expect((await visit(homeport, `http://${install.name}.localhost/`)).status).toBe(200);
  });

  it('deletes an install that is still pending', async () => {
    const answer = await create();
    const id = text(answer.body, 'id');
    expect((await owner.client.delete(`/installs/${id}`)).status).toBe(204);
    await homeport.idle();
    expect(filesNaming(id)).toEqual([]);
    expect((await visit(homeport, `http://${text(answer.body, 'cname')}/`)).status).toBe(404);
  });

  it('answers 404 for hidden, missing and malformed ids', async () => {
    const other = await homeport.ownedAccount();
    const hidden = await homeport.install(other.owner, other.accountId);
    for (const id of [hidden.id, crypto.randomUUID(), 'x']) {
      expect(await owner.client.delete(`/installs/${id}`)).toMatchObject(NOT_FOUND);
    }
    expect((await other.owner.client.get(`/installs/${hidden.id}`)).status).toBe(200);
  });

  /** Files and folders below the data folder, the database's own excluded, whose path or content names an install. */
  function filesNaming(id: string): string[] {
    const folder = join(homeport.config.dataDir, 'host');
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => {
      const file = join(folder, path);
      return path.includes(id) || (statSync(file).isFile() && readFileSync(file, 'utf8').includes(id));
    });
  }

  /** Tables with one of the ids in any column. */
  async function tablesNaming(...ids: string[]): Promise<string[]> {
    const { reader } = homeport.platform.database;
    const tables = [
      'installs',
      'install_grants',
      'domains',
      'certificates',
      'offload_settings',
      'backups',
      'domain_reports',
      'install_limits',
      'jobs',
      'operations',
    ] as const;
    const found: string[] = [];
    for (const table of tables) {
      const rows = JSON.stringify(await reader.selectFrom(table).selectAll().execute());
      if (ids.some((id) => rows.includes(id))) found.push(table);
    }
    return found;
  }
});

describe('failed provisioning', () => {
  /** Puts a file where the host keeps its folder of installs. */
  async function withoutFolder(work: () => Promise<void>): Promise<void> {
    const folder = join(homeport.config.dataDir, 'host', 'installs');
    renameSync(folder, `${folder}.aside`);
    writeFileSync(folder, '');
    try {
      await work();
    } finally {
      renameSync(`${folder}.aside`, `${folder}.back`);
      renameSync(folder, `${folder}.file`);
      renameSync(`${folder}.back`, folder);
    }
  }

  async function laterUntil(done: () => Promise<boolean>): Promise<void> {
    for (let minutes = 0; minutes < 60; minutes += 5) {
      await homeport.idle();
      if (await done()) return;
      clock.advance(5 * MINUTE_MS);
    }
    throw new Error('it did not come to that within an hour');
  }

  it('is retried, then fails and is undone, and keeps the name until the install is deleted', async () => {
    const name = installName();
    let id = '';
    await withoutFolder(async () => {
      id = text((await create({ name })).body, 'id');
      await homeport.idle();
      expect(await read(id)).toMatchObject({ status: 'pending' });
      await laterUntil(async () => field(await read(id), 'status') !== 'pending');
    });
    expect(await read(id)).toMatchObject({ status: 'failed', cname: `${name}.localhost` });
    await laterUntil(async () => (await unfinished(id)) === 0);
    expect(existsSync(join(homeport.config.dataDir, 'host', 'installs', id))).toBe(false);
    expect(existsSync(join(homeport.config.dataDir, 'host', 'vhosts', `${id}.json`))).toBe(false);
    expect((await visit(homeport, `http://${name}.localhost/`)).status).toBe(404);

    // Requests for the install are accepted but have no effect.
    const domains = `/installs/${id}/domains`;
    expect((await owner.client.post(domains, { name: 'failed.example' })).status).toBe(201);
    const email = `${name}@people.example`;
    const backup = await owner.client.post(`/installs/${id}/backups`, {
      description: 'of nothing',
      notification_emails: [email],
    });
    expect((await owner.client.post(`/installs/${id}/purge_cache`, { type: 'page' })).status).toBe(202);
    await homeport.idle();
    expect((await owner.client.get(domains)).body).toMatchObject({
      results: [
        { network_details: { network_info: { status: 'FAILED' } } },
        { network_details: { network_info: { status: 'FAILED' } } },
      ],
    });
    expect((await owner.client.get(`/installs/${id}/backups/${text(backup.body, 'id')}`)).body).toMatchObject(
      {
        status: 'aborted',
      },
    );
    expect(mailsTo(homeport, email)).toMatchObject([{ subject: `Backup of ${name} aborted` }]);
    expect(await read(id)).toMatchObject({ status: 'failed' });

    expect(await create({ name })).toMatchObject({ status: 400, body: { errors: [{ code: 'taken' }] } });
    expect((await owner.client.delete(`/installs/${id}`)).status).toBe(204);
    const again = text((await create({ name })).body, 'id');
    // It waits until the former website of this name is removed.
    await laterUntil(async () => field(await read(again), 'status') === 'active');
  });

  mostlyOn('sqlite', it)('succeeds if the cause is fixed in time', async () => {
    let id = '';
    await withoutFolder(async () => {
      id = text((await create()).body, 'id');
      await homeport.idle();
      expect(await read(id)).toMatchObject({ status: 'pending' });
    });
    clock.advance(60_000);
    await homeport.idle();
    expect(await read(id)).toMatchObject({ status: 'active' });
  });

  async function unfinished(lane: string): Promise<number> {
    const jobs = await homeport.platform.database.reader
      .selectFrom('jobs')
      .select('id')
      .where('lane', '=', lane)
      .where('state', 'in', ['queued', 'running'])
      .execute();
    return jobs.length;
  }
});
