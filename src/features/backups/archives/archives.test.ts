import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAgent, text } from '../../../../test/client.ts';
import { type DatabasePlace, migratedPlace } from '../../../../test/database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { refusal } from '../../../../test/refusal.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { damageBackup } from '../../../../test/stored-backup.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { archivesLane, discardCopyBackups } from '../jobs.ts';

interface Archive {
  id: string;
  state: string;
  download_uri: string | null;
  size_bytes: number | null;
  expires_at: string | null;
}

let place: DatabasePlace;
let clock: ManualClock;
let homeport: TestHomeport;
let agent: Dispatcher;
let accountId: string;
let owner: Person;
let shop: { id: string; name: string };
let backupId: string;
const photo = randomBytes(3_000_000);

beforeAll(async () => {
  place = await migratedPlace();
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, place });
  agent = createAgent(homeport.ca);
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(async () => {
  await homeport.remove();
  await place.remove();
});
beforeEach(async () => {
  shop = await homeport.install(owner, accountId);
  const files = join(homeport.config.dataDir, 'host', 'installs', shop.id, 'files');
  writeFileSync(join(files, 'index.html'), 'archived');
  writeFileSync(join(files, 'photo.jpg'), photo);
  backupId = await backUp();
});

async function backUp(): Promise<string> {
  const body = { description: 'x', notification_emails: [] };
  const answer = await owner.client.post(`/installs/${shop.id}/backups`, body);
  await homeport.idle();
  return text(answer.body, 'id');
}

const pack = (more: object = {}, person = owner) =>
  person.client.post(`/installs/${shop.id}/archives`, { backup_id: backupId, ...more });

async function archives(person = owner): Promise<Archive[]> {
  const { body } = await person.client.get(`/installs/${shop.id}/archives`);
  return (body as { results: Archive[] }).results;
}

async function packed(): Promise<{ archive: Archive; uri: string; bytes: number }> {
  expect((await pack()).status).toBe(202);
  await homeport.idle();
  const archive = (await archives()).at(-1);
  if (!archive?.download_uri || archive.size_bytes === null) throw new Error('no archive');
  return { archive, uri: archive.download_uri, bytes: archive.size_bytes };
}

async function download(uri: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const answer = await request(uri, { method, headers, dispatcher: agent });
  const body = Buffer.from(await answer.body.arrayBuffer());
  return { status: answer.statusCode, headers: answer.headers, body };
}

const filesOnHost = () =>
  readdirSync(join(homeport.config.dataDir, 'host', 'archives'), { recursive: true }).join();

const sweep = async () => {
  const { database, queue } = homeport.platform;
  await database.write((transaction) =>
    queue.enqueue(transaction, discardCopyBackups, { payload: {}, lane: null }),
  );
  await homeport.idle();
};

describe('an archive', () => {
  it('is requested, packed, downloaded with its link alone, and contains the files', async () => {
    const answer = await pack();
    expect(answer).toMatchObject({
      status: 202,
      body: { backup: { id: backupId }, notification_emails: [], state: 'requested', download_uri: null },
    });
    await homeport.idle();
    const [archive] = await archives();
    expect(archive).toMatchObject({
      id: text(answer.body, 'id'),
      state: 'completed',
      complete_time: expect.any(String),
      abort_time: null,
    });
    const { status, headers, body } = await download(archive?.download_uri ?? '');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/gzip',
      'content-length': String(archive?.size_bytes),
      'accept-ranges': 'bytes',
      'content-disposition': expect.stringMatching(
        new RegExp(`^attachment; filename="${shop.name}-\\d{4}-\\d\\d-\\d\\d\\.tar\\.gz"$`),
      ),
    });
    expect(body).toHaveLength(archive?.size_bytes ?? 0);
    const options = { input: body, maxBuffer: 1e8 };
    expect(execFileSync('tar', ['-xzO', '-f', '-', 'index.html'], options).toString()).toBe('archived');
    expect(execFileSync('tar', ['-xzO', '-f', '-', 'photo.jpg'], options).equals(photo)).toBe(true);
  });

  it('is downloaded in ranges', async () => {
    const { uri, bytes } = await packed();
    const whole = await download(uri);
    const etag = String(whole.headers.etag);
    const cases: [range: string, from: number, to: number][] = [
      ['bytes=0-9', 0, 9],
      [`bytes=${bytes - 5}-`, bytes - 5, bytes - 1],
      ['bytes=-7', bytes - 7, bytes - 1],
      [`bytes=1000000-${bytes + 99}`, 1_000_000, bytes - 1],
    ];
    for (const [range, from, to] of cases) {
      const part = await download(uri, { range, 'if-range': etag });
      expect(part.status, range).toBe(206);
      expect(part.headers['content-range'], range).toBe(`bytes ${from}-${to}/${bytes}`);
      expect(part.body.equals(whole.body.subarray(from, to + 1)), range).toBe(true);
    }
    for (const range of [`bytes=${bytes}-`, 'bytes=-0']) {
      const refused = await download(uri, { range });
      expect(refused.status, range).toBe(416);
      expect(refused.headers['content-range']).toBe(`bytes */${bytes}`);
    }
    const ignored: Record<string, string>[] = [
      { range: 'bytes=0-1,5-6' },
      { range: 'lines=1-2' },
      { range: 'bytes=9-3' },
      { range: 'bytes=0-9', 'if-range': '"another"' },
    ];
    for (const headers of ignored) {
      expect((await download(uri, headers)).status, JSON.stringify(headers)).toBe(200);
    }
    const head = await download(uri, {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, headers: { 'content-length': String(bytes) } });
    expect(head.body).toHaveLength(0);
  });

  it('is not downloaded with a changed, foreign, missing or expired link', async () => {
    const { uri, archive } = await packed();
    const other = await packed();
    const url = new URL(uri);
    const changed = (change: (link: URL) => void) => {
      const link = new URL(uri);
      change(link);
      return link.href;
    };
    const expires = Number(url.searchParams.get('expires'));
    const signature = url.searchParams.get('signature') ?? '';
    const foreign = new URL(other.uri).searchParams.get('signature') ?? '';
    for (const link of [
      changed(({ searchParams }) => searchParams.set('expires', String(expires + 1))),
      changed(({ searchParams }) => searchParams.set('signature', `${signature.slice(0, -2)}AA`)),
      changed(({ searchParams }) => searchParams.set('signature', signature.slice(0, -4))),
      changed(({ searchParams }) => searchParams.set('signature', foreign)),
      changed(({ searchParams }) => searchParams.append('signature', signature)),
      changed(({ searchParams }) => searchParams.delete('signature')),
      changed(({ searchParams }) => searchParams.delete('expires')),
      changed((link) => {
        link.pathname = link.pathname.replace(archive.id, other.archive.id);
      }),
      changed((link) => {
        link.pathname = link.pathname.replace(archive.id, 'x');
      }),
    ]) {
      const { status, body } = await download(link);
      expect(status, link).toBe(403);
      expect(JSON.parse(body.toString())).toEqual({
        message: 'The link is invalid or has expired. Make a new one.',
      });
    }
    expect(uri).not.toContain(owner.credential.password);
    expect((await download(uri)).status).toBe(200);
    clock.advance(24 * HOUR_MS);
    expect((await download(uri)).status).toBe(403);
    expect(await archives()).toEqual([]);
    const portal = await signedIn(homeport, owner);
    expect((await portal.get(`/installs/${shop.id}/archives`)).body).toMatchObject({
      results: [
        { id: other.archive.id },
        {
          id: archive.id,
          state: 'completed',
          backup_description: 'x',
          expires_at: archive.expires_at,
          download_uri: null,
        },
      ],
    });
  });

  onlyInLong(it)('is kept for 6 hours after its link, for downloads that have begun', async () => {
    const { archive, uri } = await packed();
    const { mayContinue } = homeport.services.archives;
    clock.advance(30 * HOUR_MS - MINUTE_MS);
    await sweep();
    expect((await download(uri)).status).toBe(403);
    expect(filesOnHost()).toContain(archive.id);
    expect(await mayContinue(archive.id)).toBe(true);
    clock.advance(MINUTE_MS);
    expect(await mayContinue(archive.id)).toBe(false);
    await sweep();
    expect(filesOnHost()).not.toContain(archive.id);
    const rows = await homeport.platform.database.reader
      .selectFrom('archives')
      .select('id')
      .where('install_id', '=', shop.id)
      .execute();
    expect(rows).toEqual([]);
  });

  it('outlives its backup, which cannot be deleted until it is packed', async () => {
    const { database, queue } = homeport.platform;
    // The archive waits for this job.
    const before = { payload: {}, lane: archivesLane(shop.id), delayMs: MINUTE_MS };
    await database.write((transaction) => queue.enqueue(transaction, discardCopyBackups, before));
    expect((await pack()).status).toBe(202);
    const path = `/installs/${shop.id}/backups/${backupId}`;
    expect(await owner.client.delete(path)).toMatchObject({
      status: 409,
      body: { message: 'The backup is being restored, copied or packed. Delete it after that.' },
    });
    clock.advance(MINUTE_MS);
    await homeport.idle();
    expect((await owner.client.delete(path)).status).toBe(204);
    await homeport.idle();
    const [archive] = await archives();
    expect((await download(archive?.download_uri ?? '')).status).toBe(200);
  });

  onlyInLong(it)('is limited to three of an install', async () => {
    for (const _ of [1, 2, 3]) expect((await pack()).status).toBe(202);
    await homeport.idle();
    expect(await pack()).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      body: { message: 'This install has 3 archives already; one must expire first' },
    });
    clock.advance(25 * HOUR_MS);
    expect((await pack()).status).toBe(202);
    await homeport.idle();
  });

  it('is aborted with a reason and a mail if the backup is damaged', async () => {
    const to = `${shop.name}@example.com`;
    const hostFolder = join(homeport.config.dataDir, 'host');
    damageBackup({ hostFolder, installId: shop.id, backupId });
    expect((await pack({ notification_emails: [to] })).status).toBe(202);
    await homeport.idle();
    expect(await archives()).toMatchObject([
      { state: 'aborted', abort_time: expect.any(String), complete_time: null, download_uri: null },
    ]);
    const portal = await signedIn(homeport, owner);
    expect((await portal.get(`/installs/${shop.id}/archives`)).body).toMatchObject({
      results: [{ state: 'aborted', reason: expect.stringContaining('is damaged'), expires_at: null }],
    });
    expect(mailsTo(homeport, to)).toMatchObject([
      { subject: `Archive of ${shop.name} could not be made`, text: expect.stringContaining('is damaged') },
    ]);
  });

  it('is announced by mail without its link', async () => {
    const to = `ready-${shop.name}@example.com`;
    await pack({ notification_emails: [to] });
    await homeport.idle();
    const [mail, ...more] = mailsTo(homeport, to);
    expect(mail?.subject).toBe(`Archive of ${shop.name} is ready`);
    expect(mail?.text).not.toMatch(/signature|https:/);
    expect(more).toEqual([]);
  });

  it('has no link for a credential that only reads', async () => {
    const { archive } = await packed();
    const limits = { readOnly: true, accountId: null, installs: null };
    const credential = await homeport.services.credentials.issue(owner.userId, { name: 'reading', limits });
    const body = (await homeport.clientOf(credential).get(`/installs/${shop.id}/archives`)).body;
    expect((body as { results: Archive[] }).results).toMatchObject([{ id: archive.id, download_uri: null }]);
  });

  it('is made of completed backups of the install only', async () => {
    const message = 'The install has no such backup';
    const unknown = refusal('Archive.backup_id', 'invalid_value / unknown', message);
    const other = await homeport.install(owner, accountId);
    const path = `/installs/${other.id}/archives`;
    expect(await owner.client.post(path, { backup_id: backupId })).toMatchObject(unknown);
    expect(await pack({ backup_id: crypto.randomUUID() })).toMatchObject(unknown);
  });

  onlyInLong(it)('is gone for a link if its file is', async () => {
    const { uri } = await packed();
    rmSync(join(homeport.config.dataDir, 'host', 'archives', shop.id), { recursive: true });
    expect((await download(uri)).status).toBe(404);
  });
});

onlyInLong(it)('a process with the API alone serves archives from the folder of the websites', async () => {
  const { uri } = await packed();
  const second = await startTestHomeport({ clock, place, roles: { api: true, hosting: false } });
  try {
    const { pathname, search } = new URL(uri);
    const link = `${second.origin}${pathname}${search}`;
    expect((await download(link)).body.equals((await download(uri)).body)).toBe(true);
  } finally {
    await second.stop();
  }
});
