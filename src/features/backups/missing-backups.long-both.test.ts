import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { field, text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { damageBackup, manifestOf } from '../../../test/stored-backup.ts';
import { checkBackups } from '../../cli/doctor/backups.ts';
import { checkDamagedBackups } from '../../cli/doctor/damaged-backups.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { discardCopyBackups, reconcileBackups } from './jobs.ts';
import { requestReconciliation } from './reconcile-backups.ts';
import { nextToCheck } from './restore-check-store.ts';
import { discardExpired } from './retention.ts';

let homeport: TestHomeport;
let clock: ManualClock;
let owner: Person;
let accountId: string;
let install: { id: string; name: string };

beforeAll(async () => {
  clock = manualClock(new Date('2026-03-04T12:00:00.000Z'));
  homeport = await startTestHomeport({ clock, environment: { HOMEPORT_BACKUP_DAYS: '3' } });
  ({ accountId, owner } = await homeport.ownedAccount());
});
beforeEach(async () => {
  install = await homeport.install(owner, accountId);
});
afterAll(() => homeport.remove());

const reader = () => homeport.platform.database.reader;
const folder = (id = install.id) => join(homeport.config.dataDir, 'host', 'snapshots', id);
const aside = () => `${folder()}.aside`;
const manifest = (backupId: string) =>
  manifestOf({ hostFolder: join(homeport.config.dataDir, 'host'), installId: install.id, backupId });
const path = (id = '') => `/installs/${install.id}/backups/${id}`.replace(/\/$/, '');

async function backUp(): Promise<string> {
  const body = { description: 'before the update', notification_emails: [] };
  const id = text((await owner.client.post(path(), body)).body, 'id');
  await homeport.idle();
  return id;
}

async function compare(): Promise<void> {
  await requestReconciliation(homeport.platform, null);
  await homeport.idle();
}

const seen = async (id: string) => (await owner.client.get(path(id))).body;
const events = async () =>
  (
    await reader()
      .selectFrom('events')
      .select(['type', 'subject_id'])
      .where('install_id', '=', install.id)
      .where('type', 'in', ['backup.missing', 'backup.found'])
      .orderBy('seq')
      .execute()
  ).map(({ type, subject_id }) => [type, subject_id]);

it('marks a backup that its host does not hold, and takes the mark away when it is there again', async () => {
  const [lost, kept] = [await backUp(), await backUp()];
  await compare();
  expect(await seen(lost)).toMatchObject({ status: 'completed', missing_since: null });
  renameSync(manifest(lost), aside());
  await compare();
  const since = clock.now().toISOString();
  expect(await seen(lost)).toMatchObject({ status: 'completed', missing_since: since });
  expect(await seen(kept)).toMatchObject({ missing_since: null });
  clock.advance(DAY_MS);
  await compare();
  expect(await seen(lost)).toMatchObject({ missing_since: since });

  const restore = await owner.client.post(path(`${lost}/restore`), { notification_emails: [] });
  expect(restore.status).toBe(400);
  expect(text(restore.body, 'message')).toMatch(
    /^The backup is missing: .* since 2026-03-04\. Choose another one/,
  );
  const archive = { backup_id: lost, notification_emails: [] };
  expect((await owner.client.post(`/installs/${install.id}/archives`, archive)).status).toBe(400);
  await expect(homeport.services.backups.requestRestore(lost)).rejects.toThrow(/^The backup is missing/);

  renameSync(aside(), manifest(lost));
  await compare();
  expect(await seen(lost)).toMatchObject({ missing_since: null });
  expect((await owner.client.post(path(`${lost}/restore`), { notification_emails: [] })).status).toBe(202);
  await homeport.idle();
  expect(await events()).toEqual([
    ['backup.missing', lost],
    ['backup.found', lost],
  ]);
});

it('counts only present backups as backups', async () => {
  const linux = { host: 'linux' as const, backupDays: 3 };
  const id = await backUp();
  expect((await nextToCheck(reader()))?.backup_id).not.toBeUndefined();
  renameSync(folder(), aside());
  await compare();
  const findings = await checkBackups({ reader: reader() }, linux, clock);
  expect(findings[0]).toMatchObject({
    state: 'problem',
    message: `1 backup of ${install.name} is missing from the backup storage.`,
    remedy: expect.stringContaining('homeport host backups move --from'),
  });
  clock.advance(DAY_MS);
  await reader()
    .updateTable('installs')
    .set({ created_at: '2026-01-01T00:00:00.000Z' })
    .where('id', '=', install.id)
    .execute();
  const messages = async () =>
    (await checkBackups({ reader: reader() }, linux, clock)).map(({ message }) => message);
  expect((await messages())[1]).toContain(install.name);
  expect(await checkBackups({ reader: reader() }, { host: 'embedded', backupDays: 3 }, clock)).toMatchObject([
    { state: 'problem', remedy: expect.stringContaining('host/snapshots') },
  ]);
  const { id: listed } = (await homeport.services.backups.listAll(install.name))[0] ?? {};
  expect(listed).toBe(id);
  renameSync(aside(), folder());
  await compare();
  expect((await messages())[0]).not.toContain(install.name);
});

it('deletes nothing automatically while backups are missing, and never counts a missing one as the last', async () => {
  const write = homeport.platform;
  const expire = async () => {
    await write.database.write((transaction) => discardExpired(write, transaction, install.id));
    await homeport.idle();
  };
  const [old, newer] = [await backUp(), await backUp()];
  await reader()
    .updateTable('backups')
    .set({ scheduled: true })
    .where('install_id', '=', install.id)
    .execute();
  clock.advance(4 * DAY_MS);
  renameSync(manifest(newer), aside());
  await compare();
  await expire();
  expect(existsSync(manifest(old))).toBe(true);
  renameSync(aside(), manifest(newer));
  await compare();
  await expire();
  expect(existsSync(manifest(old))).toBe(false);
  expect(existsSync(manifest(newer))).toBe(true);
});

it('deletes nothing automatically for a week after the backups of a host have moved', async () => {
  const write = homeport.platform;
  const [old] = [await backUp(), await backUp()];
  const hostId = crypto.randomUUID();
  await write.database.write(async ({ queries }) => {
    await queries
      .insertInto('hosts')
      .values({
        ...{ id: hostId, name: 'web1', address: 'unix:/run/none', public_name: null, edge_addresses: '[]' },
        ...{ description: null, seen_at: null, reason: null, created_at: clock.now().toISOString() },
      })
      .execute();
    await queries.updateTable('installs').set({ host_id: hostId }).where('id', '=', install.id).execute();
    await queries
      .updateTable('backups')
      .set({ checkpoint: true })
      .where('install_id', '=', install.id)
      .execute();
  });
  clock.advance(30 * DAY_MS);
  await homeport.services.hosts.noteBackupsMoved('web1');
  const ask = async () => {
    await write.database.write((transaction) =>
      write.queue.enqueue(transaction, discardCopyBackups, { payload: {}, lane: null }),
    );
    await homeport.idle();
  };
  await ask();
  expect(await seen(old)).toMatchObject({ id: old });
  clock.advance(8 * DAY_MS);
  await ask();
  expect((await owner.client.get(path(old))).status).toBe(404);
  await write.database.write(async ({ queries }) => {
    await queries.updateTable('installs').set({ host_id: null }).where('id', '=', install.id).execute();
    await queries.deleteFrom('hosts').where('id', '=', hostId).execute();
  });
});

it('leaves what it knows if a host cannot read its backups, and asks only if it keeps backups', async () => {
  const count = async () =>
    (await reader().selectFrom('jobs').select('id').where('kind', '=', reconcileBackups.name).execute())
      .length;
  const before = await count();
  await requestReconciliation(homeport.platform, crypto.randomUUID());
  expect(await count()).toBe(before);
  // The only backups of this host are of an install that was deleted.
  const [gone, host_id] = [crypto.randomUUID(), crypto.randomUUID()];
  const at = clock.now().toISOString();
  const kept = { backup_id: gone, reason: null, kept: '{}', deleted_at: at, expires_at: at };
  const deleted = { id: gone, account_id: accountId, name: 'gone', host_id, state: 'kept' } as const;
  await homeport.platform.database.write(({ queries }) =>
    queries
      .insertInto('deleted_installs')
      .values({ ...deleted, ...kept })
      .execute(),
  );
  await requestReconciliation(homeport.platform, host_id);
  expect(await count()).toBe(before + 1);
  await homeport.platform.database.write(({ queries }) =>
    queries.deleteFrom('deleted_installs').where('id', '=', gone).execute(),
  );
  // Its host does not exist.
  await homeport.platform.database.write(({ queries }) =>
    queries.deleteFrom('jobs').where('lane', 'like', `%${host_id}`).execute(),
  );
  const id = await backUp();
  renameSync(folder(), aside());
  writeFileSync(folder(), 'no folder');
  await compare();
  expect(await seen(id)).toMatchObject({ missing_since: null });
  expect(field(await seen(id), 'status')).toBe('completed');
  rmSync(folder());
  renameSync(aside(), folder());
});

onlyInLong(it)(
  'compares the backups of deleted installs, too, and restores the newest that is there',
  async () => {
    const [first, second] = [await backUp(), await backUp()];
    await owner.client.delete(`/installs/${install.id}`);
    await homeport.idle();
    const [deleted] = (await homeport.services.deletedInstalls.listAll()).filter(
      ({ id }) => id === install.id,
    );
    const last = deleted?.backup_id ?? '';
    const messages = async () =>
      (await checkBackups({ reader: reader() }, { host: 'linux', backupDays: 3 }, clock)).map(
        ({ message }) => message,
      );
    for (const id of [second, last]) renameSync(manifest(id), `${manifest(id)}.away`);
    await compare();
    expect((await messages())[0]).toBe(
      `2 backups of ${install.name} (deleted) are missing from the backup storage.`,
    );
    renameSync(`${manifest(second)}.away`, manifest(second));
    await compare();
    const restored = await owner.client.post(`/deleted_installs/${install.id}/restore`);
    expect(restored.status).toBe(202);
    await homeport.idle();
    const { body } = await owner.client.get(
      `/operations/${text(restored.headers, 'location').split('/').at(-1)}`,
    );
    expect(body).toMatchObject({ status: 'succeeded', result: { backup_id: second } });
    expect(await seen(last)).toMatchObject({ missing_since: expect.any(String) });
    expect(await seen(first)).toMatchObject({ missing_since: null });
  },
);

it('refuses to restore a deleted install whose backups are all missing', async () => {
  await owner.client.delete(`/installs/${install.id}`);
  await homeport.idle();
  renameSync(folder(), aside());
  await compare();
  const refused = await owner.client.post(`/deleted_installs/${install.id}/restore`);
  expect(refused.status).toBe(409);
  expect(text(refused.body, 'message')).toMatch(/^The backups of the install are missing/);
  renameSync(aside(), folder());
  await compare();
  expect((await owner.client.post(`/deleted_installs/${install.id}/restore`)).status).toBe(202);
  await homeport.idle();
});

describe('doctor on damaged backups', () => {
  const found = async () =>
    (await checkDamagedBackups({ reader: reader() }, { ...homeport.config, host: 'embedded' }))
      .map(({ message }) => message)
      .filter((message) => message.includes(install.name));

  it('names a backup whose manifest cannot be read, until it is deleted', async () => {
    const [damaged, whole] = [await backUp(), await backUp()];
    expect(await found()).toEqual([]);
    const hostFolder = join(homeport.config.dataDir, 'host');
    damageBackup({ hostFolder, installId: install.id, backupId: damaged });
    expect(await found()).toEqual([
      expect.stringMatching(`^The backup ${damaged} of ${install.name} cannot be restored: its manifest`),
    ]);
    await owner.client.delete(path(whole));
    await homeport.idle();
    expect(readdirSync(join(folder(), 'packs'))).not.toEqual([]);
    await owner.client.delete(path(damaged));
    await homeport.idle();
    expect(await found()).toEqual([]);
    expect(existsSync(join(folder(), 'packs'))).toBe(false);
  });

  it('names an install with a file in place of its backups, and damage of others as well', async () => {
    const id = await backUp();
    const hostFolder = join(homeport.config.dataDir, 'host');
    damageBackup({ hostFolder, installId: install.id, backupId: id });
    const other = join(hostFolder, 'snapshots', randomUUID());
    writeFileSync(other, '');
    try {
      const messages = (
        await checkDamagedBackups({ reader: reader() }, { ...homeport.config, host: 'embedded' })
      ).map(({ message }) => message);
      expect(messages).toContainEqual(
        expect.stringMatching(`^The backups of ${basename(other)} cannot be read`),
      );
      expect(messages).toContainEqual(expect.stringContaining(`The backup ${id} of ${install.name}`));
    } finally {
      rmSync(other);
    }
  });

  it('names a damaged pack that a restore has found, until a new backup has stored its contents again', async () => {
    const id = await backUp();
    const [name = ''] = readdirSync(join(folder(), 'packs'));
    const pack = join(folder(), 'packs', name);
    writeFileSync(pack, readFileSync(pack).fill(0, 0, 2));
    const body = { notification_emails: [], create_checkpoint: false };
    expect((await owner.client.post(`${path(id)}/restore`, body)).status).toBe(202);
    await homeport.idle();
    expect(await found()).toEqual([
      expect.stringContaining(`contents of backups of ${install.name} is damaged`),
    ]);
    await backUp();
    expect(await found()).toEqual([]);
    // A kill between both deletions leaves the mark of a pack that is gone.
    writeFileSync(join(folder(), 'packs', `${'0'.repeat(64)}.pack.damaged`), '');
    expect(await found()).toEqual([]);
  });

  it('names a pack with damaged contents that the website does not have any more, until their backup is deleted', async () => {
    const file = join(homeport.config.dataDir, 'host/installs', install.id, 'files/old.bin');
    const content = randomBytes(1_000);
    writeFileSync(file, content);
    const id = await backUp();
    const [name = ''] = readdirSync(join(folder(), 'packs'));
    const pack = join(folder(), 'packs', name);
    const bytes = readFileSync(pack);
    writeFileSync(pack, bytes.fill(0, bytes.indexOf(content), bytes.indexOf(content) + 2));
    const body = { notification_emails: [], create_checkpoint: false };
    await owner.client.post(`${path(id)}/restore`, body);
    await homeport.idle();
    rmSync(file);
    await backUp();
    expect(await found()).toHaveLength(1);
    await owner.client.delete(path(id));
    await homeport.idle();
    expect(await found()).toEqual([]);
  });
});
