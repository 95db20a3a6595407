import { afterAll, beforeAll, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { operatorFor } from '../../../access/caller.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
});
afterAll(() => homeport?.remove());

/** A fresh account with three sites. Two have tags. The first has an install. */
async function taggedAccount() {
  ({ accountId, owner } = await homeport.ownedAccount());
  const site = async (name: string, tags: string[]) =>
    text((await owner.client.post('/sites', { name, account_id: accountId, tags })).body, 'id');
  const [shop, blog, bare] = [
    await site('Shop', ['Monthly care', 'VIP']),
    await site('Blog', ['monthly CARE']),
    await site('Bare', []),
  ];
  const install = await homeport.install(owner, accountId);
  await homeport.services.installs.update(operatorFor(owner.userId), install.id, {
    site_id: shop,
    environment: 'production',
  });
  return { shop, blog, bare, install: install.id };
}

const namesOf = async (path: string) => {
  const { body } = await owner.client.get(path);
  const results = field(body, 'results');
  return Array.isArray(results) ? results.map((one) => text(one, 'name')) : [];
};
const tags = async () => (await owner.client.get(`/accounts/${accountId}/tags`)).body;
const change = (path: string, body: object) => owner.client.post(`/accounts/${accountId}/tags/${path}`, body);

it('keeps the tags of a site in the spelling of the account, with an event and an entry in the activity', async () => {
  const { blog } = await taggedAccount();
  const site = await owner.client.get(`/sites/${blog}`);
  expect(site.body).toMatchObject({ tags: ['Monthly care'] });
  const changed = await owner.client.patch(`/sites/${blog}`, { tags: [' vip ', 'New  one', 'Vip'] });
  expect(changed).toMatchObject({ status: 200, body: { name: 'Blog', tags: ['New one', 'VIP'] } });
  expect(await owner.client.patch(`/sites/${blog}`, { name: 'Blog 2' })).toMatchObject({
    body: { tags: ['New one', 'VIP'] },
  });
  expect((await activityOf(homeport, accountId)).at(-2)).toMatchObject({
    action: 'site.update',
    subject_id: blog,
    details: { tags: 'New one, VIP' },
  });
  const { body: events } = await owner.client.get(`/events?account_id=${accountId}&type=site.updated`);
  expect(field(events, 'results')).toMatchObject([{ type: 'site.updated' }, { type: 'site.updated' }]);
  expect(await owner.client.patch(`/sites/${blog}`, { tags: ['a,b'] })).toMatchObject({
    status: 400,
    body: { errors: [{ resource: 'Site', field: 'tags', code: 'invalid_format' }] },
  });
  expect((await owner.client.patch(`/sites/${blog}`, { tags: 'VIP' })).status).toBe(400);
});

it('filters sites and installs by all of the tags', async () => {
  await taggedAccount();
  const of = `account_id=${accountId}`;
  expect(await namesOf(`/sites?${of}&tags=MONTHLY%20care`)).toEqual(['Shop', 'Blog']);
  expect(await namesOf(`/sites?${of}&tags=vip,monthly%20care`)).toEqual(['Shop']);
  expect(await namesOf(`/sites?${of}&tags=month%25`)).toEqual([]);
  expect(await namesOf(`/installs?${of}&tags=vip`)).toHaveLength(1);
  expect(await namesOf(`/installs?${of}&tags=blog`)).toEqual([]);
  expect((await owner.client.get('/sites?tags=,')).status).toBe(400);
});

it('shows tags in the lists of the portal, and finds them', async () => {
  const { install } = await taggedAccount();
  const client = await signedIn(homeport, owner);
  const of = `/accounts/${accountId}`;
  expect((await client.get(`${of}/sites?tags=vip`)).body).toMatchObject({
    total: 3,
    count: 1,
    results: [{ name: 'Shop', tags: ['Monthly care', 'VIP'] }],
  });
  expect((await client.get(`${of}/installs?tags=vip`)).body).toMatchObject({
    count: 1,
    results: [{ id: install, tags: ['Monthly care', 'VIP'] }],
  });
  expect((await client.get(`${of}/matching_installs?tags=vip`)).body).toMatchObject({
    results: [{ id: install, tags: ['Monthly care', 'VIP'] }],
  });
  const found = (await client.get(`/search?search=${encodeURIComponent('Y CARE')}`)).body;
  expect(field(found, 'results')).toMatchObject([{ kind: 'tag', name: 'Monthly care', id: accountId }]);
});

it('counts what the caller may see', async () => {
  const { install } = await taggedAccount();
  expect(await tags()).toEqual({
    results: [
      { name: 'Monthly care', site_count: 2, install_count: 1 },
      { name: 'VIP', site_count: 1, install_count: 1 },
    ],
  });
  const partial = await homeport.person(accountId, 'partial', [install]);
  expect((await partial.client.get(`/accounts/${accountId}/tags`)).body).toMatchObject({
    results: [{ name: 'Monthly care', site_count: 1 }, { name: 'VIP' }],
  });
});

it('renames a tag in all sites, and joins two', async () => {
  const { shop, blog } = await taggedAccount();
  expect(await change('rename', { name: 'MONTHLY CARE', new_name: 'monthly care' })).toMatchObject({
    status: 200,
    body: { name: 'monthly care', site_count: 2 },
  });
  expect(await change('rename', { name: 'monthly care', new_name: 'vip' })).toMatchObject({
    body: { name: 'VIP', site_count: 2, install_count: 1 },
  });
  expect((await owner.client.get(`/sites/${shop}`)).body).toMatchObject({ tags: ['VIP'] });
  expect((await owner.client.get(`/sites/${blog}`)).body).toMatchObject({ tags: ['VIP'] });
  expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
    action: 'tag.rename',
    subject_name: 'monthly care',
    details: { to: 'VIP', sites: 2 },
  });
  expect((await change('remove', { name: 'vip' })).body).toEqual({ site_count: 2, site_ids: [shop, blog] });
  expect(await tags()).toEqual({ results: [] });
  expect((await change('remove', { name: 'vip' })).body).toEqual({ site_count: 0, site_ids: [] });
  expect(await change('rename', { name: 'vip', new_name: 'x' })).toMatchObject({
    status: 400,
    body: { message: 'No site of this account has this tag' },
  });
});

it('changes the tags of many sites and installs at once, or of none', async () => {
  const { shop, blog, bare, install } = await taggedAccount();
  const alone = await homeport.install(owner, accountId);
  const answer = await change('change', {
    add: ['new'],
    remove: ['VIP'],
    site_ids: [bare, blog],
    install_ids: [install, alone.id],
  });
  expect(answer).toMatchObject({
    status: 200,
    body: {
      changed: [
        {
          site_id: shop,
          name: 'Shop',
          tags: ['Monthly care', 'new'],
          former_tags: ['Monthly care', 'VIP'],
        },
        { site_id: blog, tags: ['Monthly care', 'new'] },
        { site_id: bare, tags: ['new'], former_tags: [] },
      ],
      without_site: [alone.id],
    },
  });
  const many = Array.from({ length: 19 }, (_, index) => `t${index}`);
  expect(await change('change', { add: many, site_ids: [bare, shop] })).toMatchObject({
    status: 400,
    body: {
      errors: [
        {
          code: 'too_many',
          message: 'Shop would have more than 20 tags. Remove some of its tags first',
        },
      ],
    },
  });
  expect(await change('change', { add: [...many, 'one more'], site_ids: [shop, blog, bare] })).toMatchObject({
    status: 400,
    body: {
      message: 'Shop, Blog, and Bare would have more than 20 tags. Remove some of their tags first',
    },
  });
  expect((await owner.client.get(`/sites/${bare}`)).body).toMatchObject({ tags: ['new'] });
  const others = await homeport.ownedAccount();
  const foreign = await others.owner.client.post('/sites', { name: 'Foreign', account_id: others.accountId });
  expect(await change('change', { add: ['x'], site_ids: [text(foreign.body, 'id')] })).toMatchObject({
    status: 400,
    body: { errors: [{ type: 'access_error' }] },
  });
  expect((await change('change', { site_ids: [bare] })).status).toBe(400);
});

it('lets the operator tag a site, with an entry in the activity', async () => {
  const { bare } = await taggedAccount();
  const changed = await homeport.services.tags.changeByOperator(accountId, bare, {
    add: ['vip'],
    remove: [],
  });
  expect(changed).toEqual(['VIP']);
  expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({ means: 'command_line' });
});

it('keeps the limit of the account, and one spelling of a tag, when many requests give it at once', async () => {
  const { shop, blog, bare } = await taggedAccount();
  // The account has 2 tags, and at most 500.
  const some = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  await Promise.all(
    some('Site of ', 24).map((name) =>
      owner.client.post('/sites', { name, account_id: accountId, tags: some(`${name} tag `, 20) }),
    ),
  );
  const answers = await Promise.all([
    owner.client.patch(`/sites/${shop}`, { tags: ['VIP', ...some('one', 10)] }),
    owner.client.patch(`/sites/${blog}`, { tags: ['VIP', ...some('other', 10)] }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);

  const spellings = ['Urgent', 'URGENT', 'urgent', 'uRGENT', 'urGent', 'urgEnt'];
  await Promise.all([
    ...spellings.map((tag) => owner.client.post('/sites', { name: tag, account_id: accountId, tags: [tag] })),
    owner.client.patch(`/sites/${bare}`, { tags: ['URgent'] }),
    change('change', { add: ['URGent'], site_ids: [shop] }),
    change('rename', { name: 'Monthly care', new_name: 'URGEnt' }),
  ]);
  const { body } = await owner.client.get(`/sites?account_id=${accountId}&tags=urgent&limit=100`);
  const results = field(body, 'results');
  const used = Array.isArray(results) ? results.flatMap((site) => field(site, 'tags')) : [];
  const urgent = used.filter((tag) => String(tag).toLowerCase() === 'urgent');
  expect(urgent.length).toBeGreaterThanOrEqual(8);
  expect(new Set(urgent).size).toBe(1);
});
