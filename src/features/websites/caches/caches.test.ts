import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { NOT_FOUND, refusal } from '../../../../test/refusal.ts';

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

type Install = { id: string; name: string };

const purge = ({ id }: { id: string }, type: unknown, client = owner.client) =>
  client.post(`/installs/${id}/purge_cache`, { type });

const purgePages = ({ id }: Install, paths: unknown) =>
  owner.client.post(`/installs/${id}/purge_cache`, { type: 'page', paths });

function write({ id }: Install, path: string, content: string): void {
  const file = join(homeport.config.dataDir, 'host', 'installs', id, 'files', path);
  rmSync(file, { force: true });
  writeFileSync(file, content);
}

/** The edge's cache status and the body. */
async function look({ name }: Install, path: string): Promise<string> {
  const { status, headers, body } = await visit(homeport, `http://${name}.localhost/${path}`);
  return `${headers['x-cache']} ${status === 200 ? body : status}`;
}

/** The caches named by the install's purges, oldest first. */
async function purgedCaches({ id }: Install): Promise<unknown[]> {
  const list = await owner.client.get(`/operations?install_id=${id}&kind=cache.purge`);
  const purges = field(list.body, 'results');
  return Array.isArray(purges) ? purges.map((purge) => field(purge, 'result', 'cache')) : [];
}

it.each(['path', 'Paths', 'urls', 'page'])('a purge with the field %s is refused', async (name) => {
  const install = await homeport.install(owner, accountId);
  const answer = await owner.client.post(`/installs/${install.id}/purge_cache`, {
    type: 'page',
    [name]: ['/a/'],
  });
  const message = 'Name the pages to purge in the field paths, such as "paths": ["/news/"]';
  expect(answer).toMatchObject(refusal(`Cache.${name}`, 'invalid_value / unknown_field', message));
  // Other unknown fields are ignored.
  const other = await owner.client.post(`/installs/${install.id}/purge_cache`, { type: 'page', note: 'x' });
  expect(other.status).toBe(202);
});

describe('a purge', () => {
  let install: Install;
  let other: Install;

  beforeEach(async () => {
    install = await homeport.install(owner, accountId);
    other = await homeport.install(owner, accountId);
    for (const one of [install, other]) {
      write(one, 'page.html', 'before');
      write(one, 'style.css', 'before');
      for (const path of ['page.html', 'style.css', 'later.html']) {
        expect(await look(one, path)).toMatch(/MISS/);
        expect(await look(one, path)).toMatch(/HIT/);
      }
      // Changes on disk are invisible while cached.
      write(one, 'page.html', 'after');
      write(one, 'style.css', 'after');
      write(one, 'later.html', 'after');
      expect(await all(one)).toEqual(['HIT before', 'HIT before', 'HIT 404']);
    }
  });

  const all = (one: Install) =>
    Promise.all(['page.html', 'style.css', 'later.html'].map((path) => look(one, path)));

  it.each([
    ['page', ['MISS after', 'HIT before', 'HIT 404']],
    ['cdn', ['HIT before', 'MISS after', 'HIT 404']],
    // The file look-ups: a missing file is found after it was written, and every file is read again.
    ['object', ['MISS after', 'MISS after', 'MISS after']],
    ['all', ['MISS after', 'MISS after', 'MISS after']],
  ])('of the cache "%s" empties it, and that of no other install', async (type, seen) => {
    const answer = await purge(install, type);
    expect(answer.status).toBe(202);
    expect(answer.body).toBeUndefined();
    await homeport.idle();
    expect(await all(install)).toEqual(seen);
    expect(await all(other)).toEqual(['HIT before', 'HIT before', 'HIT 404']);
    expect(await all(install)).toEqual(seen.map((state) => state.replace('MISS', 'HIT')));
  });
});

describe('a purge of single pages', () => {
  it('purges them, whatever the query, and keeps the others', async () => {
    const install = await homeport.install(owner, accountId);
    const paths = ['one.html', 'two.html', 'three.html'];
    for (const path of paths) write(install, path, 'before');
    const seen = () => Promise.all(paths.map((path) => look(install, path)));
    await seen();
    for (const path of paths) write(install, path, 'after');
    const asked = ['/one.html', '/two.html?page=2', '/two.html/', '/one.html?x'];
    const answer = await purgePages(install, asked);
    expect(answer).toMatchObject({ status: 202, body: undefined });
    await homeport.idle();
    expect(await seen()).toEqual(['MISS after', 'MISS after', 'HIT before']);
    const location = String(answer.headers.location).replace(/^.*\/v1/, '');
    const named = '/one.html /two.html /two.html/';
    expect((await owner.client.get(location)).body).toMatchObject({
      kind: 'cache.purge',
      status: 'succeeded',
      result: { cache: 'page', path_count: '3', paths: named },
    });
    const activity = await owner.client.get(`/accounts/${accountId}/activity?limit=1`);
    expect(activity.body).toMatchObject({
      results: [{ action: 'cache.purge', details: { type: 'page', path_count: 3, paths: named } }],
    });
  });

  it('accepts 1,000 paths, one of 2,048 characters, and has no rate limit of its own', async () => {
    const install = await homeport.install(owner, accountId);
    const many = Array.from({ length: 1_000 }, (_, n) => `/${n}`);
    expect((await purgePages(install, many)).status).toBe(202);
    expect((await purgePages(install, [`/${'a'.repeat(2_047)}`])).status).toBe(202);
    await homeport.idle();
    const list = await owner.client.get(`/operations?install_id=${install.id}&kind=cache.purge`);
    const [first] = [field(list.body, 'results', 0)];
    expect(field(first, 'result', 'path_count')).toBe('1000');
    expect(text(field(first, 'result'), 'paths')).toMatch(/^\/0 \/1 .{900,1000}$/);
  });

  it.each([
    [[], 'paths', 'too_few', 'paths must have at least 1 element'],
    [Array.from({ length: 1_001 }, () => '/a'), 'paths', 'too_many', 'paths must have at most 1000 elements'],
    ['/a', 'paths', 'invalid_type', 'paths must be a list'],
    [null, 'paths', 'invalid_type', 'paths must be a list'],
    [[1], 'paths.0', 'invalid_type', 'paths.0 must be a string'],
    [[`/${'a'.repeat(2_048)}`], 'paths.0', 'too_long', 'paths.0 must have at most 2048 characters'],
    [
      ['/a', 'https://a.example/b/'],
      'paths.1',
      'invalid_format',
      expect.stringContaining('/news/ for https://'),
    ],
    [['//a.example/b/'], 'paths.0', 'invalid_format', expect.stringContaining('without its host name')],
    [['news'], 'paths.0', 'invalid_format', 'A path must begin with /'],
    [[''], 'paths.0', 'invalid_format', 'A path must begin with /'],
    [['/a#b'], 'paths.0', 'invalid_format', expect.stringContaining('#')],
    [['/a b'], 'paths.0', 'invalid_format', expect.stringContaining('%20')],
    [['/news/*'], 'paths.0', 'invalid_format', expect.stringContaining('wildcards')],
    [['/a/../b?x'], 'paths.0', 'invalid_format', expect.stringContaining('segments . and ..')],
    [['/a\u0007'], 'paths.0', 'invalid_format', expect.stringContaining('control characters')],
    [['/a\0'], 'paths.0', 'invalid_format', expect.stringContaining('NUL')],
  ])('refuses the paths %.60j', async (paths, at, code, message) => {
    const install = await homeport.install(owner, accountId);
    const answer = await purgePages(install, paths);
    expect(answer.status).toBe(400);
    expect(field(answer.body, 'errors', 0)).toEqual({
      resource: 'Cache',
      field: at,
      type: 'invalid_value',
      code,
      message,
    });
  });

  it('lists every invalid path, also beside an invalid type', async () => {
    const install = await homeport.install(owner, accountId);
    const fields = async (body: object) => {
      const answer = await owner.client.post(`/installs/${install.id}/purge_cache`, body);
      const errors = field(answer.body, 'errors');
      return Array.isArray(errors) ? errors.map((error) => field(error, 'field')) : [];
    };
    expect(await fields({ type: 'page', paths: ['a', '/b', 'c'] })).toEqual(['paths.0', 'paths.2']);
    expect(await fields({ type: 'pages', paths: ['a', '/b'] })).toEqual(['type', 'paths.0']);
    for (const type of ['object', 'cdn', 'all'])
      expect(await fields({ type, paths: ['/a'] })).toEqual(['paths']);
  });
});

describe('the rate limit of object cache purges', () => {
  const limited = (seconds: number) => ({
    status: 429,
    headers: { 'retry-after': String(seconds) },
    body: {
      message: 'Object cache purges are rate-limited to one request every 60 seconds for each install',
    },
  });

  it('is one in 60 seconds for each install; other caches have none', async () => {
    const install = await homeport.install(owner, accountId);
    const other = await homeport.install(owner, accountId);
    expect((await purge(install, 'object')).status).toBe(202);
    expect(await purge(install, 'object')).toMatchObject(limited(60));
    expect((await purge(other, 'object')).status).toBe(202);
    for (const type of ['page', 'cdn', 'page', 'cdn']) expect((await purge(install, type)).status).toBe(202);
    clock.advance(20_500);
    expect(await purge(install, 'object')).toMatchObject(limited(40));
    clock.advance(39_499);
    expect(await purge(install, 'object')).toMatchObject(limited(1));
    clock.advance(1);
    expect((await purge(install, 'object')).status).toBe(202);
    expect(await purge(install, 'object')).toMatchObject(limited(60));
    const member = await homeport.person(accountId, 'full');
    expect(await purge(install, 'object', member.client)).toMatchObject(limited(60));
  });

  it.each([
    ['object', 'all'],
    ['all', 'object'],
    ['all', 'all'],
  ])('counts a purge of "%s" before a purge of "%s"', async (first, second) => {
    const install = await homeport.install(owner, accountId);
    expect((await purge(install, first)).status).toBe(202);
    expect(await purge(install, second)).toMatchObject(limited(60));
    expect((await purge(install, 'page')).status).toBe(202);
    clock.advance(60_000);
    expect((await purge(install, second)).status).toBe(202);
    await homeport.idle();
    // The refused purge emptied nothing.
    expect(await purgedCaches(install)).toEqual([first, 'page', second]);
  });

  it('counts accepted purges only', async () => {
    const install = await homeport.install(owner, accountId);
    const stranger = (await homeport.ownedAccount()).owner;
    expect(await purge(install, 'object', stranger.client)).toMatchObject(NOT_FOUND);
    expect((await purge(install, 'objects')).status).toBe(400);
    expect((await purge(install, 'object')).status).toBe(202);
  });

  it('lets one of several concurrent purges through', async () => {
    const install = await homeport.install(owner, accountId);
    const answers = await Promise.all(Array.from({ length: 6 }, () => purge(install, 'object')));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 429, 429, 429, 429, 429]);
  });
});

describe('a purge is refused for', () => {
  const message = 'Cache type must be one of: object, page, cdn';

  it.each([[''], ['All'], ['everything'], ['Page'], [['page']], [['all']]])('the type %j', async (type) => {
    const install = await homeport.install(owner, accountId);
    expect(await purge(install, type)).toMatchObject(
      refusal('Cache.type', 'invalid_value / invalid_type', message, 'Invalid cache type'),
    );
  });

  it('a missing type', async () => {
    const install = await homeport.install(owner, accountId);
    expect(await purge(install, undefined)).toMatchObject(
      refusal('Cache.type', 'missing_field / required', message, 'Invalid cache type'),
    );
  });

  it('hidden, missing and malformed install ids', async () => {
    const [mine, theirs] = [
      await homeport.install(owner, accountId),
      await homeport.install(owner, accountId),
    ];
    const partial = await homeport.person(accountId, 'partial', [mine.id]);
    expect((await purge(mine, 'page', partial.client)).status).toBe(202);
    expect(await purge(theirs, 'page', partial.client)).toMatchObject(NOT_FOUND);
    expect(await purge({ id: crypto.randomUUID() }, 'page')).toMatchObject(NOT_FOUND);
    expect(await purge({ id: 'x' }, 'page')).toMatchObject({
      status: 400,
      body: { message: 'Invalid install ID format' },
    });
  });
});

it('of all caches is one operation and one entry of the activity', async () => {
  const install = await homeport.install(owner, accountId);
  const answer = await purge(install, 'all');
  expect(answer.status).toBe(202);
  expect(answer.body).toBeUndefined();
  await homeport.idle();
  const location = String(answer.headers.location).replace(/^.*\/v1/, '');
  expect((await owner.client.get(location)).body).toMatchObject({
    kind: 'cache.purge',
    status: 'succeeded',
    install,
    result: { cache: 'all' },
  });
  expect(await purgedCaches(install)).toEqual(['all']);
  const activity = await owner.client.get(`/accounts/${accountId}/activity?limit=1`);
  expect(activity.body).toMatchObject({
    results: [{ action: 'cache.purge', subject_id: install.id, details: { type: 'all' } }],
  });
});

it('succeeds while the install is still pending', async () => {
  const created = await owner.client.post('/installs', { name: 'earlypurge', account_id: accountId });
  const id = text(created.body, 'id');
  expect((await purge({ id }, 'page')).status).toBe(202);
  await homeport.idle();
  expect(field((await owner.client.get(`/installs/${id}`)).body, 'status')).toBe('active');
  const jobs = await homeport.platform.database.reader
    .selectFrom('jobs')
    .select('state')
    .where('lane', '=', id)
    .execute();
  expect(jobs).toEqual([{ state: 'succeeded' }, { state: 'succeeded' }]);
});
