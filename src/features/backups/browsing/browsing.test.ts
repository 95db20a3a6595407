import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { createAgent, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { damageBackup, manifestOf } from '../../../../test/stored-backup.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
let backupId: string;
let agent: ReturnType<typeof createAgent>;

const fileOf = (path: string, { id } = install) =>
  join(homeport.config.dataDir, 'host', 'installs', id, 'files', path);

beforeAll(async () => {
  homeport = await startTestHomeport();
  agent = createAgent(homeport.ca);
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
  mkdirSync(fileOf('photos/2026'), { recursive: true });
  writeFileSync(fileOf('index.html'), 'as it was');
  writeFileSync(fileOf('photos/größe "1".html'), '<script>alert(1)</script>');
  writeFileSync(fileOf('photos/large'), Buffer.alloc(3_000_000, 'large'));
  writeFileSync(fileOf('photos/2026/a.txt'), 'a');
  symlinkSync('../index.html', fileOf('photos/link'));
  for (let index = 0; index < 130; index += 1) writeFileSync(fileOf(`photos/2026/p${index}`), '');
  backupId = await backUp();
});
afterAll(async () => {
  await agent.close();
  await homeport.remove();
});

async function backUp(): Promise<string> {
  const body = { description: 'Before', notification_emails: [] };
  const { body: made } = await owner.client.post(`/installs/${install.id}/backups`, body);
  await homeport.idle();
  return text(made, 'id');
}

const download = (uri: string | URL, headers: Record<string, string> = {}) =>
  request(uri, { headers, dispatcher: agent });
const of = (what: string, id = backupId) => `/installs/${install.id}/backups/${id}/${what}`;
const list = (path: string, more = '') =>
  owner.client.get(`${of('files')}?path=${encodeURIComponent(path)}${more}`);
const link = (path: string, person = owner) => person.client.post(of('file_links'), { path });
const restore = async (body: object) => {
  const wanted = { notification_emails: [], create_checkpoint: false, ...body };
  const asked = await owner.client.post(of('restore'), wanted);
  await homeport.idle();
  const path = String(asked.headers.location).replace(/^.*\/v1/, '');
  const operation = asked.status === 202 ? (await owner.client.get(path)).body : null;
  return { ...asked, operation };
};

describe('the files of a backup', () => {
  it('are listed by folders, in pages', async () => {
    expect((await list('')).body).toMatchObject({
      count: 2,
      results: [
        { name: 'photos', path: 'photos', type: 'folder', size_bytes: null, link_target: null },
        {
          name: 'index.html',
          path: 'index.html',
          type: 'file',
          size_bytes: 9,
          modified_time: expect.any(String),
        },
      ],
    });
    expect((await list('/photos/')).body).toMatchObject({
      results: [
        { name: '2026', type: 'folder' },
        { name: 'größe "1".html', path: 'photos/größe "1".html' },
        { name: 'large', size_bytes: 3_000_000 },
        { name: 'link', type: 'link', link_target: '../index.html' },
      ],
    });
    const second = await list('photos/2026', '&limit=100&offset=100');
    expect(second.body).toMatchObject({ count: 131, next: null });
    expect(Object(second.body).results).toHaveLength(31);
    expect((await owner.client.get(of('tables'))).body).toMatchObject({ count: 0, results: [] });
  });

  it.each([
    ['photos/none', 'The backup has no folder "photos/none".'],
    ['index.html', 'The backup has no folder "index.html".'],
    ['photos/link', 'The backup has no folder "photos/link".'],
    ['photos/../..', 'path must be that of a file or folder in the backup, such as wp-content/uploads'],
    ['a\nb', 'path must be that of a file or folder in the backup, such as wp-content/uploads'],
  ])('in %j are refused with a reason', async (path, message) => {
    const refused = await list(path);
    expect(refused).toMatchObject({
      status: 400,
      body: { message, errors: [{ resource: 'Backup', field: 'path' }] },
    });
  });

  it('are downloaded by a link as they were', async () => {
    const made = await link('photos/größe "1".html');
    expect(made).toMatchObject({ status: 201, body: { size_bytes: 25 } });
    const uri = text(made.body, 'download_uri');
    const answer = await download(uri);
    expect(answer.statusCode).toBe(200);
    expect(await answer.body.text()).toBe('<script>alert(1)</script>');
    expect(answer.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="gr__e _1_.html"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.html`,
    });
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'backup.download_file',
      subject_id: backupId,
      details: { path: 'photos/größe "1".html' },
    });
    const large = await download(text((await link('photos/large')).body, 'download_uri'), {
      range: 'bytes=2999990-',
    });
    expect(large.statusCode).toBe(206);
    expect(await large.body.text()).toBe('largelarge');
    // A link opens no other file.
    const other = new URL(uri);
    other.searchParams.set('path', 'index.html');
    expect((await download(other)).statusCode).toBe(403);
  });

  it('are not downloaded by anyone else', async () => {
    const given = await homeport.person(accountId, 'partial');
    expect(await link('index.html', given)).toMatchObject(NOT_FOUND);
    expect(await link('photos')).toMatchObject({
      status: 400,
      body: { message: '"photos" is a folder, not a file.' },
    });
    expect(await link('../../secret')).toMatchObject({ status: 400 });
    const { owner: stranger } = await homeport.ownedAccount();
    expect(await stranger.client.get(of('files'))).toMatchObject(NOT_FOUND);
    expect(await owner.client.get(of('files', crypto.randomUUID()))).toMatchObject(NOT_FOUND);
  });
});

describe('a restore of chosen files', () => {
  it('brings them back and leaves everything else', async () => {
    writeFileSync(fileOf('index.html'), 'changed');
    rmSync(fileOf('photos/2026'), { recursive: true });
    writeFileSync(fileOf('photos/new'), 'since');
    const { status, operation } = await restore({ paths: ['photos'] });
    expect(status).toBe(202);
    expect(operation).toMatchObject({ status: 'succeeded' });
    expect(readFileSync(fileOf('index.html'), 'utf8')).toBe('changed');
    expect(readFileSync(fileOf('photos/new'), 'utf8')).toBe('since');
    expect(readFileSync(fileOf('photos/2026/a.txt'), 'utf8')).toBe('a');
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'backup.restore',
      details: { database: false, paths: 1 },
    });
    await restore({ paths: ['index.html'] });
    expect(readFileSync(fileOf('index.html'), 'utf8')).toBe('as it was');
  });

  it.each([
    [{ paths: ['index.html', 'none'] }, 'The backup has no file or folder "none". The website is unchanged.'],
    [{ paths: ['photos/2026/a.txt'] }, '"photos/2026" is a file in the website and a folder in the backup.'],
  ])('is refused for %j, and changes nothing', async (body, reason) => {
    rmSync(fileOf('photos/2026'), { recursive: true, force: true });
    writeFileSync(fileOf('photos/2026'), 'a file');
    writeFileSync(fileOf('index.html'), 'present');
    const { operation } = await restore(body);
    expect(operation).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining(reason) },
    });
    expect(readFileSync(fileOf('index.html'), 'utf8')).toBe('present');
    rmSync(fileOf('photos/2026'));
    // The same request again restores the same.
    if (!body.paths.includes('index.html')) {
      const { id } = Object(operation);
      expect((await owner.client.post(`/operations/${id}/retry`)).status).toBe(202);
      await homeport.idle();
      expect(readFileSync(fileOf('photos/2026/a.txt'), 'utf8')).toBe('a');
      expect(readFileSync(fileOf('index.html'), 'utf8')).toBe('present');
    }
  });

  it.each([
    { paths: ['../x'] },
    { paths: ['a\u0000b'] },
    { paths: ['index.html'], restore_files: false },
    { db_tables: ['wp_posts'] },
  ])('is refused at once for %j', async (body) => {
    const { status, body: answer } = await restore(body);
    expect([400, 409]).toContain(status);
    expect(Object(answer).errors[0]).toMatchObject({ resource: 'Backup' });
  });

  it('is refused for more paths than it takes', async () => {
    const { status } = await restore({ paths: Array.from({ length: 501 }, (_, index) => `f${index}`) });
    expect(status).toBe(400);
  });

  it('of a damaged or missing backup says so, and changes nothing', async () => {
    const hostFolder = join(homeport.config.dataDir, 'host');
    const backup = { hostFolder, installId: install.id, backupId };
    writeFileSync(fileOf('index.html'), 'present');
    damageBackup(backup);
    const { operation } = await restore({ paths: ['index.html'] });
    expect(operation).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('is damaged') },
    });
    expect(await link('photos/2026/p1')).toMatchObject({ status: 409 });
    rmSync(manifestOf(backup));
    expect((await restore({ paths: ['index.html'] })).operation).toMatchObject({ status: 'failed' });
    expect(readFileSync(fileOf('index.html'), 'utf8')).toBe('present');
  });
});
