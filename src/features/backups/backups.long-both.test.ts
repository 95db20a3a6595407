import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../test/client.ts';
import { visit } from '../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { mailsTo } from '../../../test/mails.ts';
import { onlyOn } from '../../../test/only-on.ts';
import { NOT_FOUND, refusal } from '../../../test/refusal.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { spendAllBut } from '../../../test/spent-limit.ts';
import { RATE_LIMITS } from '../../access/rate-limits.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { hashSecret } from '../../secrets/random-secret.ts';
import { emailKey } from '../identity/users/store.ts';
import { createBackup } from './jobs.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', it);

/** Tests start at the beginning of an hour, so hourly limits do not reset during one. */
const behindMs = Date.now() % HOUR_MS;
const clock = { now: () => new Date(Date.now() - behindMs) };

/** Level of warnings in the log (pino). */
const WARNING = 40;

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };

const lines: string[] = [];

beforeAll(async () => {
  homeport = await startTestHomeport({ clock, log: pino({}, { write: (line) => lines.push(line) }) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
afterAll(() => homeport.remove());

const backups = (id = install.id) => `/installs/${id}/backups`;
const request = (body: object = {}, id = install.id, client = owner.client) =>
  client.post(backups(id), { description: 'before the update', notification_emails: [], ...body });
const hostFolder = (...path: string[]) => join(homeport.config.dataDir, 'host', ...path);
const filesOf = (id = install.id) => hostFolder('installs', id, 'files');
const address = () => `${crypto.randomUUID()}@people.example`;

async function freshInstall() {
  const { accountId, owner } = await homeport.ownedAccount();
  return { owner, install: await homeport.install(owner, accountId) };
}

/** Requests a backup that takes a while. */
async function requestLarge() {
  const { owner, install } = await freshInstall();
  writeFileSync(join(filesOf(install.id), 'big.bin'), randomBytes(24 * 1024 * 1024));
  const id = text((await request({}, install.id, owner.client)).body, 'id');
  return { client: owner.client, install, backup: `${backups(install.id)}/${id}` };
}

async function finished(backupId: string, id = install.id): Promise<unknown> {
  await homeport.idle();
  return (await owner.client.get(`${backups(id)}/${backupId}`)).body;
}

describe('a backup', () => {
  it('is requested, then completed: an archive of the reported size', async () => {
    const answer = await request();
    expect(answer.status).toBe(202);
    const id = text(answer.body, 'id');
    expect(answer.body).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{14}4/), status: 'requested' });
    expect(await finished(id)).toMatchObject({ id, status: 'completed', size_bytes: expect.any(Number) });
    const row = await homeport.platform.database.reader
      .selectFrom('backups')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      description: 'before the update',
      files: 1,
      reason: null,
      requested_by: owner.userId,
    });
    expect(row.bytes).toBe(statSync(hostFolder('installs', install.id, 'files', 'index.html')).size);
    expect(row.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  onlyInLong(rule)('is in progress in between', async () => {
    const { client, backup } = await requestLarge();
    await expect.poll(async () => (await client.get(backup)).body).toMatchObject({ status: 'in_progress' });
    await homeport.idle();
    expect((await client.get(backup)).body).toMatchObject({ status: 'completed' });
  });

  onlyInLong(rule)('of an install that is deleted meanwhile ends without an error', async () => {
    const { client, backup, install } = await requestLarge();
    await expect.poll(async () => (await client.get(backup)).body).toMatchObject({ status: 'in_progress' });
    const before = lines.length;
    expect((await client.delete(`/installs/${install.id}`)).status).toBe(204);
    await homeport.idle();
    const logged = lines.slice(before).map((line): unknown => JSON.parse(line));
    expect(logged.filter((line) => Number(field(line, 'level')) >= WARNING)).toEqual([]);
    const { state } = await homeport.platform.database.reader
      .selectFrom('jobs')
      .select('state')
      .where('kind', '=', createBackup.name)
      .where('lane', '=', install.id)
      .executeTakeFirstOrThrow();
    expect(state).toBe('cancelled');
  });

  it('can be restored, byte for byte', async () => {
    const other = await homeport.install(owner, accountId);
    const page = join(filesOf(other.id), 'index.html');
    mkdirSync(join(filesOf(other.id), 'media'));
    const bytes = randomBytes(100_000);
    writeFileSync(join(filesOf(other.id), 'media', 'ä.bin'), bytes);
    writeFileSync(page, 'as it was');
    const id = text((await request({}, other.id)).body, 'id');
    await expect(homeport.services.backups.requestRestore(id)).rejects.toThrow(/only a completed one/);
    await finished(id, other.id);

    writeFileSync(page, 'broken');
    writeFileSync(join(filesOf(other.id), 'intruder.txt'), 'x');
    renameSync(join(filesOf(other.id), 'media'), join(filesOf(other.id), 'gone'));
    expect((await visit(homeport, `http://${other.name}.localhost/`)).body).toBe('broken');
    await homeport.services.backups.requestRestore(id);
    await homeport.idle();
    expect((await visit(homeport, `http://${other.name}.localhost/`)).body).toBe('as it was');
    expect(readdirSync(filesOf(other.id)).sort()).toEqual(['index.html', 'media']);
    expect(readFileSync(join(filesOf(other.id), 'media', 'ä.bin')).equals(bytes)).toBe(true);
    await expect(homeport.services.backups.requestRestore(crypto.randomUUID())).rejects.toThrow('not found');
  });

  rule('of a pending install waits for its website', async () => {
    const created = await owner.client.post('/installs', {
      name: `late${Date.now() % 1e9}`,
      account_id: accountId,
    });
    const installId = text(created.body, 'id');
    const id = text((await request({}, installId)).body, 'id');
    expect(await finished(id, installId)).toMatchObject({ status: 'completed' });
  });
});

describe('notification mails', () => {
  it('tell each address once that the backup is complete', async () => {
    const [one, two] = [address(), address()];
    const answer = await request({
      description: '  Größe\nzählt ',
      notification_emails: [one, two, one],
    });
    const id = text(answer.body, 'id');
    await homeport.idle();
    for (const to of [one, two]) {
      const mails = mailsTo(homeport, to);
      expect(mails).toHaveLength(1);
      expect(mails[0]).toMatchObject({
        from: 'Homeport <homeport@localhost>',
        subject: `Backup of ${install.name} completed`,
      });
      for (const part of [id, install.name, 'Größe', 'every checksum matched', 'Files:', 'bytes']) {
        expect(mails[0]?.text).toContain(part);
      }
    }
  });

  rule('contain the description on one line of bounded length', async () => {
    const to = address();
    const description = `Your account is locked.\n\nOpen https://elsewhere.example\u2028now ${'x'.repeat(900)}`;
    await request({ description, notification_emails: [to] });
    await homeport.idle();
    const lines = mailsTo(homeport, to)[0]?.text.split('\n') ?? [];
    const [line = '', ...others] = lines.filter((one) => /locked|elsewhere|now|xx/.test(one));
    expect(others).toEqual([]);
    expect(line).toMatch(/^Description: {2}Your account is locked. Open https/);
    expect(line.length).toBeLessThan(250);
  });

  rule('are limited for strangers, whoever asks, and unlimited for members', async () => {
    const { install: own, owner: asking } = await freshInstall();
    const { install: others, owner: other } = await freshInstall();
    const [stranger, refused] = [address(), address()];
    const ask = (notification_emails: string[], of = own.id, by = asking) =>
      request({ notification_emails }, of, by.client);
    expect(RATE_LIMITS.backupNoticesByEmail).toMatchObject({ size: 20, windowSeconds: 3_600 });
    await spendAllBut(homeport, RATE_LIMITS.backupNoticesByEmail, {
      subject: hashSecret(emailKey(stranger)),
      left: 3,
    });
    for (let times = 0; times < 3; times++) {
      expect((await ask([stranger, stranger.toUpperCase(), asking.email])).status).toBe(202);
    }
    await homeport.idle();
    expect(await ask([refused, stranger], others.id, other)).toMatchObject({
      status: 429,
      body: { message: expect.stringContaining('people outside the account') },
    });
    expect((await ask([asking.email])).status).toBe(202);
    await homeport.idle();
    expect(mailsTo(homeport, asking.email)).toHaveLength(4);
    expect(mailsTo(homeport, refused)).toEqual([]);
    expect(mailsTo(homeport, stranger)).toHaveLength(3);
    // Users who cannot see the install learn nothing about it and use up no limit.
    expect(await ask([refused, stranger], own.id, other)).toMatchObject(NOT_FOUND);
    const windows = homeport.platform.database.reader.selectFrom('rate_windows').select('key');
    const counted = async () =>
      (await windows.execute()).filter(({ key }) => key.startsWith('backup-mails:')).length;
    const before = await counted();
    expect(await ask([address(), address()], crypto.randomUUID(), other)).toMatchObject(NOT_FOUND);
    expect(await counted()).toBe(before);
  });

  it('tell that it was aborted and why; the next backup works again', async () => {
    const broken = await homeport.install(owner, accountId);
    const to = address();
    renameSync(filesOf(broken.id), `${filesOf(broken.id)}.aside`);
    const id = text((await request({ notification_emails: [to] }, broken.id)).body, 'id');
    expect(await finished(id, broken.id)).toMatchObject({
      id,
      status: 'aborted',
      complete_time: null,
      verified_at: null,
    });
    const mails = mailsTo(homeport, to);
    expect(mails).toMatchObject([{ subject: `Backup of ${broken.name} aborted` }]);
    const row = await homeport.platform.database.reader
      .selectFrom('backups')
      .select(['reason', 'finished_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row.finished_at).not.toBeNull();
    expect(mails[0]?.text).toMatch(/Reason: +\S/);
    expect(mails[0]?.text.replaceAll(/\s+/g, ' ')).toContain(
      (row.reason ?? 'no reason').replaceAll(/\s+/g, ' '),
    );
    expect(mails[0]?.text).not.toContain(homeport.config.dataDir);

    renameSync(`${filesOf(broken.id)}.aside`, filesOf(broken.id));
    const next = text((await request({}, broken.id)).body, 'id');
    expect(await finished(next, broken.id)).toMatchObject({ status: 'completed' });
    expect(await finished(id, broken.id)).toMatchObject({ status: 'aborted' });
  });
});

describe('a backup request is refused', () => {
  rule('above the limit of unfinished backups of an install', async () => {
    const { install: busy, owner: asking } = await freshInstall();
    const { database, random } = homeport.platform;
    await database.write(({ queries }) =>
      queries
        .insertInto('backups')
        .values(
          Array.from({ length: 20 }, () => ({
            id: random.uuid(),
            install_id: busy.id,
            description: 'waits',
            notification_emails: '[]',
            status: 'requested' as const,
            bytes: null,
            files: null,
            sha256: null,
            reason: null,
            requested_by: null,
            created_at: clock.now().toISOString(),
            finished_at: null,
          })),
        )
        .execute(),
    );
    expect(await request({}, busy.id, asking.client)).toMatchObject({
      status: 429,
      body: { message: expect.stringMatching(/^20 backups of this install/) },
    });
  });

  it.each([[undefined], [''], [' \n']])('with the missing description %j', async (description) => {
    expect(await request({ description })).toMatchObject(
      refusal(
        'Backup.description',
        'missing_field / required',
        'Backup description cannot be empty',
        'Backup description is required',
      ),
    );
  });

  it('with all faults at once, in field order', async () => {
    const errors = async (body: object) => {
      const answer = await owner.client.post(backups(), body);
      expect(answer.status).toBe(400);
      return field(answer.body, 'errors');
    };
    expect(await errors({})).toMatchObject([
      { resource: 'Backup', field: 'description', type: 'missing_field', code: 'required' },
      { resource: 'Backup', field: 'notification_emails', type: 'missing_field', code: 'required' },
    ]);
    expect(
      await errors({ notification_emails: ['a@b.example', 'nobody', 7], description: 'x'.repeat(1001) }),
    ).toMatchObject([
      { resource: 'Backup', field: 'description', type: 'invalid_value', code: 'too_long' },
      { resource: 'Backup', field: 'notification_emails.1', type: 'invalid_value', code: 'invalid_format' },
      { resource: 'Backup', field: 'notification_emails.2', type: 'invalid_value', code: 'invalid_type' },
    ]);
    expect(await errors({ description: 'x', notification_emails: 'a@b.example' })).toMatchObject([
      { field: 'notification_emails', code: 'invalid_type' },
    ]);
    expect(
      await errors({ description: 'x', notification_emails: Array.from({ length: 51 }, address) }),
    ).toMatchObject([{ field: 'notification_emails', code: 'too_many' }]);
  });

  rule('for hidden, missing and malformed ids', async () => {
    const other = await homeport.install(owner, accountId);
    const stranger = (await homeport.ownedAccount()).owner;
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    const id = text((await request({}, install.id, partial.client)).body, 'id');
    expect(await request({}, other.id, partial.client)).toMatchObject(NOT_FOUND);
    expect(await request({}, install.id, stranger.client)).toMatchObject(NOT_FOUND);
    expect(await request({}, crypto.randomUUID())).toMatchObject(NOT_FOUND);
    expect(await request({}, 'x')).toMatchObject({ body: { message: 'Invalid install ID format' } });

    expect((await partial.client.get(`${backups()}/${id}`)).status).toBe(200);
    expect(await stranger.client.get(`${backups()}/${id}`)).toMatchObject(NOT_FOUND);
    expect(await owner.client.get(`${backups(other.id)}/${id}`)).toMatchObject(NOT_FOUND);
    expect(await owner.client.get(`${backups()}/${crypto.randomUUID()}`)).toMatchObject(NOT_FOUND);
    expect(await owner.client.get(`${backups()}/x`)).toMatchObject({
      status: 400,
      body: { message: 'Invalid backup ID format' },
    });
    expect(await owner.client.get(`${backups('x')}/${id}`)).toMatchObject({
      status: 400,
      body: { message: 'Invalid install ID format' },
    });
  });
});
