import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, field, text } from '../../../test/client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { rounds } from '../../../test/rounds.ts';
import { operatorFor } from '../../access/caller.ts';

const SITES = 23;
const INSTALLS = 11;
let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let partial: Person;
let installIds: string[];
let siteId: string;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  ({ owner, accountId } = await homeport.ownedAccount());
  const caller = operatorFor(owner.userId);
  // Names in another order than the creation, some of them twice.
  for (let n = 0; n < SITES; n++) {
    const name = `Site ${(n * 7) % 19}`;
    siteId = (await homeport.services.sites.create(caller, { name, account_id: accountId })).id;
  }
  installIds = [];
  for (let n = 0; n < INSTALLS; n++) {
    const place =
      n < 2 ? { site_id: siteId, environment: (['production', 'staging'] as const)[n] ?? null } : {};
    const install = { name: installName(), account_id: accountId, ...place };
    installIds.push((await homeport.services.installs.create(caller, install)).id);
  }
  partial = await homeport.person(accountId, 'partial', installIds.slice(2, 8));
});
afterAll(() => homeport.remove());

interface Listed {
  id: string;
  name: string;
  created_at: string;
}

interface ListPage {
  results: Listed[];
  next: string | null;
  previous: string | null;
  count: number;
}

async function list(client: Client, path: string): Promise<ListPage> {
  const { status, body } = await client.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  const results = field(body, 'results');
  if (!Array.isArray(results)) throw new Error('no list');
  const link = (name: string) => {
    const found = field(body, name);
    return typeof found === 'string' ? found.slice(`${homeport.origin}/v1`.length) : null;
  };
  return {
    results: results.map((item) => ({
      id: text(item, 'id'),
      name: text(item, 'name'),
      created_at: text(item, 'created_at'),
    })),
    next: link('next'),
    previous: link('previous'),
    count: Number(field(body, 'count')),
  };
}

/** Follows `next` to the end. */
async function follow(client: Client, first: string, link: 'next' | 'previous' = 'next'): Promise<Listed[]> {
  const all: Listed[][] = [];
  for (let path: string | null = first; path !== null; ) {
    const page: ListPage = await list(client, path);
    all.push(page.results);
    path = page[link];
  }
  return (link === 'next' ? all : all.toReversed()).flat();
}

const ids = (items: Listed[]) => items.map((item) => item.id);

describe.each(['/sites', '/installs'])('%s', (path) => {
  const everything = () => list(owner.client, `${path}?account_id=${accountId}`).then((page) => page.results);

  it.each(rounds(['', '-name'], ['', 'name', '-name', 'created_at', '-created_at']))(
    'in the order %j: pages by offset and by cursor are parts of one list',
    async (sort) => {
      const order = sort === '' ? '' : `&sort=${sort}`;
      for (const client of [owner.client, partial.client]) {
        const whole = ids((await list(client, `${path}?limit=100${order}`)).results);
        for (const limit of [1, 4, 5, 100]) {
          expect(ids(await follow(client, `${path}?limit=${limit}${order}`))).toEqual(whole);
          expect(ids(await follow(client, `${path}?limit=${limit}${order}&cursor=`))).toEqual(whole);
        }
        for (let offset = 0; offset <= whole.length + 1; offset++) {
          const page = await list(client, `${path}?limit=4&offset=${offset}${order}`);
          expect(ids(page.results), `offset ${offset}`).toEqual(whole.slice(offset, offset + 4));
        }
      }
    },
  );

  it('sorts by bytes of the name and by time', async () => {
    const all = await everything();
    const byName = all.map(({ name }) => name).sort((a, b) => (a < b ? -1 : 1));
    const sorted = async (sort: string) => (await list(owner.client, `${path}?sort=${sort}`)).results;
    expect((await sorted('name')).map(({ name }) => name)).toEqual(byName);
    expect((await sorted('-name')).map(({ name }) => name)).toEqual(byName.toReversed());
    const times = all.map(({ created_at }) => created_at).sort();
    expect((await sorted('created_at')).map(({ created_at }) => created_at)).toEqual(times);
    expect((await sorted('-created_at')).map(({ created_at }) => created_at)).toEqual(times.toReversed());
  });

  it('keeps the style of the links, and the other parameters', async () => {
    const byOffset = await list(owner.client, `${path}?limit=2&sort=-name&account_id=${accountId}`);
    expect(byOffset.next).toContain('offset=2');
    expect(byOffset.next).not.toContain('cursor');
    const byCursor = await list(owner.client, `${path}?limit=2&sort=-name&account_id=${accountId}&cursor=`);
    expect(byCursor.next).toMatch(/cursor=[\w-]+/);
    expect(byCursor.next).not.toContain('offset');
    for (const page of [byOffset, byCursor]) {
      expect(page.next).toContain('sort=-name');
      expect(page.next).toContain(`account_id=${accountId}`);
      expect(page.previous).toBeNull();
      expect(page.count).toBe(path === '/sites' ? SITES : INSTALLS);
    }
  });

  it('leads back by cursor through the same items', async () => {
    const all = ids(await everything());
    let last = await list(owner.client, `${path}?limit=4&cursor=`);
    while (last.next !== null) last = await list(owner.client, last.next);
    if (last.previous === null) throw new Error('no way back');
    const before = await follow(owner.client, last.previous, 'previous');
    expect([...ids(before), ...ids(last.results)]).toEqual(all);
  });

  it.each([
    'cursor=nonsense',
    'cursor=W10',
    `cursor=${Buffer.from('["name",false,"a",1,false]').toString('base64url')}`,
    `sort=created_at&cursor=${Buffer.from('["created_at",false,"a",1,false]').toString('base64url')}`,
    `cursor=${Buffer.from('["",false,"",-1,false]').toString('base64url')}`,
    'cursor=&offset=1',
    'cursor=&cursor=',
    'sort=id',
    'sort=name&sort=name',
    'sort=',
    'name=a&name=b',
    'colour=red',
    `name=${'x'.repeat(201)}`,
  ])('refuses ?%s', async (query) => {
    const { status, body } = await owner.client.get(`${path}?${query}`);
    expect([status, field(body, 'message')]).toEqual([400, expect.any(String)]);
    expect(field(body, 'errors', 0, 'resource')).toMatch(/^(Query|Pagination)$/);
  });

  it('filters by name', async () => {
    const all = await everything();
    for (const name of new Set(all.map((item) => item.name))) {
      const page = await list(owner.client, `${path}?${new URLSearchParams({ name })}`);
      expect(ids(page.results)).toEqual(ids(all.filter((item) => item.name === name)));
      expect(page.count).toBe(page.results.length);
    }
    expect((await list(owner.client, `${path}?name=nothing-here`)).count).toBe(0);
  });
});

it('cursors are stable while items are added and deleted', async () => {
  const account = await homeport.ownedAccount();
  const { client } = account.owner;
  const add = async (name: string) =>
    text((await client.post('/sites', { name, account_id: account.accountId })).body, 'id');
  const made: string[] = [];
  for (const name of ['b', 'd', 'f', 'h', 'j']) made.push(await add(name));
  const first = await list(client, '/sites?sort=name&limit=2&cursor=');
  expect(first.results.map(({ name }) => name)).toEqual(['b', 'd']);
  // One before the place, one after it, and the item at the place is gone.
  await add('a');
  await add('e');
  await client.delete(`/sites/${made[1]}`);
  const second = await list(client, String(first.next));
  expect(second.results.map(({ name }) => name)).toEqual(['e', 'f']);
  const back = await list(client, String(second.previous));
  expect(back.results.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(back.previous).toBeNull();
});

describe('filters of /installs', () => {
  const found = async (query: string, client = owner.client) =>
    ids((await list(client, `/installs?${query}`)).results);

  it('status, environment and site_id', async () => {
    const [one = '', two = ''] = installIds;
    expect(await found('environment=staging')).toEqual([two]);
    expect(await found(`site_id=${siteId}&sort=-created_at`)).toEqual([two, one]);
    expect(await found(`site_id=${siteId.toUpperCase()}&environment=production`)).toEqual([one]);
    expect(await found('status=pending')).toEqual(installIds);
    expect(await found('status=active')).toEqual([]);
    for (const query of ['status=gone', 'environment=test', 'site_id=1']) {
      expect((await owner.client.get(`/installs?${query}`)).status, query).toBe(400);
    }
  });

  it('domain, also the default one, in any case and alphabet', async () => {
    const [one = '', two = ''] = installIds;
    await owner.client.post(`/installs/${two}/domains`, { name: 'bücher.example.com' });
    for (const domain of ['bücher.example.com', 'XN--BCHER-KVA.example.com']) {
      expect(await found(String(new URLSearchParams({ domain })))).toEqual([two]);
    }
    const cname = text((await owner.client.get(`/installs/${one}`)).body, 'cname');
    expect(await found(`domain=${cname}`)).toEqual([one]);
    expect(await found('domain=%25%25')).toEqual([]);
  });

  it('show a partial user only what they may see', async () => {
    const [one = '', , three = ''] = installIds;
    const name = async (id: string) => text((await owner.client.get(`/installs/${id}`)).body, 'name');
    expect(await found(`name=${await name(one)}`, partial.client)).toEqual([]);
    expect(await found(`name=${await name(three)}`, partial.client)).toEqual([three]);
    expect((await list(partial.client, '/installs?status=pending')).count).toBe(6);
  });
});

it('endpoints without 400 in their row ignore unknown parameters', async () => {
  expect((await owner.client.get(`/sites/${siteId}?colour=red`)).status).toBe(200);
  const refused = await owner.client.patch(`/sites/${siteId}?colour=red`, { name: 'New' });
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ resource: 'Query', field: 'colour' }] } });
});
