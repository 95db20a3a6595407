import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { FORBIDDEN, NOT_FOUND } from '../../../../test/refusal.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const create = (name: unknown, account: unknown = accountId) =>
  owner.client.post('/sites', { name, account_id: account });

describe('POST /sites', () => {
  it('creates a site, and GET returns the same', async () => {
    const created = await create('Harbour');
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      name: 'Harbour',
      account: { id: accountId },
      tags: [],
      installs: [],
      group_name: null,
    });
    expect((await owner.client.get(`/sites/${text(created.body, 'id')}`)).body).toEqual(created.body);
  });

  it.each([[undefined], [''], ['   '], ['\u200b'], [' \u2060\ufeff\u200d '], ['\u3164\u2800'], [null]])(
    'refuses the missing or blank name %j',
    async (name) => {
      const answer = await create(name);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({
        message: 'Site name is required',
        errors: [
          {
            resource: 'Site',
            field: 'name',
            type: 'missing_field',
            code: 'required',
            message: 'Site name cannot be empty',
          },
        ],
      });
    },
  );

  it('accepts 40 characters and refuses 41, counted as people count them', async () => {
    expect((await create('ß'.repeat(40))).status).toBe(201);
    expect((await create('😀'.repeat(40))).status).toBe(201);
    const answer = await create('x'.repeat(41));
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      message: 'Invalid site name',
      errors: [
        {
          resource: 'Site',
          field: 'name',
          type: 'invalid_value',
          code: 'too_long',
          message: 'Site name is too long (maximum is 40 characters)',
        },
      ],
    });
  });

  it.each(['a\r\nb', 'a\u202eb', '\u001b[31m', 'half \ud800'])(
    'refuses the name %j, which is not one line of text',
    async (name) => {
      const answer = await create(name);
      expect(answer).toMatchObject({ status: 400, body: { message: 'Invalid site name' } });
      expect(field(answer.body, 'errors', 0)).toMatchObject({ field: 'name', code: 'invalid_format' });
    },
  );

  it('reports all faults in field order', async () => {
    const answer = await owner.client.post('/sites', {});
    expect(answer.status).toBe(400);
    expect(field(answer.body, 'message')).toBe('Site name is required');
    expect(field(answer.body, 'errors', 0, 'field')).toBe('name');
    expect(field(answer.body, 'errors', 1, 'field')).toBe('account_id');
  });

  it('gives the same answer for hidden accounts as for missing ones', async () => {
    const other = await homeport.ownedAccount();
    const hidden = await create('Mine', other.accountId);
    const absent = await create('Mine', crypto.randomUUID());
    expect(hidden.status).toBe(400);
    expect(field(hidden.body, 'errors', 0)).toMatchObject({ type: 'access_error', code: 'not_permitted' });
    expect(hidden.body).toEqual(absent.body);
  });

  it('accepts the account id in either case, and answers in lower case', async () => {
    expect(await create('Upper', accountId.toUpperCase())).toMatchObject({
      status: 201,
      body: { account: { id: accountId } },
    });
  });

  it('lets two sites have the same name', async () => {
    expect((await create('Twin')).status).toBe(201);
    expect((await create('Twin')).status).toBe(201);
  });

  it('refuses bodies that are not JSON objects, and other content types, with 400', async () => {
    for (const options of [
      { raw: '{"name":' },
      { raw: '[]' },
      { raw: 'null' },
      { raw: '"text"' },
      { raw: 'name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { raw: Buffer.from([0x7b, 0xff, 0x7d]) },
      { raw: `{"name":"${'x'.repeat(2 * 1024 * 1024)}"}` },
      { json: { name: 'a\u0000b', account_id: accountId } },
    ]) {
      const answer = await owner.client.call('POST', '/sites', options);
      expect(answer.status, JSON.stringify(options).slice(0, 80)).toBe(400);
    }
  });
});

describe('PATCH and DELETE /sites/{site_id}', () => {
  it('renames, ignores unknown fields, and accepts an empty change', async () => {
    const site = text((await create('Before')).body, 'id');
    const renamed = await owner.client.patch(`/sites/${site}`, { name: ' After ', colour: 'red' });
    expect(renamed.status).toBe(200);
    expect(field(renamed.body, 'name')).toBe('After');
    expect((await owner.client.patch(`/sites/${site}`, {})).body).toEqual(renamed.body);
    expect(await owner.client.call('PATCH', `/sites/${site}`)).toMatchObject({
      status: 400,
      body: {
        errors: [
          {
            field: 'body',
            code: 'required',
            message: 'The body must be a JSON object with the fields to change',
          },
        ],
      },
    });
    expect((await owner.client.patch(`/sites/${site}`, { name: ' ' })).status).toBe(400);
  });

  it('deletes the site with its installs', async () => {
    const site = text((await create('Doomed')).body, 'id');
    const install = await owner.client.post('/installs', {
      name: installName(),
      account_id: accountId,
      site_id: site,
      environment: 'production',
    });
    const id = text(install.body, 'id');
    expect(field((await owner.client.get(`/sites/${site}`)).body, 'installs', 0)).toEqual({
      id,
      name: text(install.body, 'name'),
      environment: 'production',
      cname: text(install.body, 'cname'),
      php_version: null,
      is_multisite: false,
    });
    const deleted = await owner.client.delete(`/sites/${site}`);
    expect(deleted.status).toBe(204);
    expect(deleted.body).toBeUndefined();
    expect((await owner.client.get(`/sites/${site}`)).status).toBe(404);
    expect((await owner.client.get(`/installs/${id}`)).status).toBe(404);
    expect((await owner.client.delete(`/sites/${site}`)).status).toBe(404);
  });

  it('answers a malformed id with 404 if the endpoint has no 400, else with 400', async () => {
    expect((await owner.client.get('/sites/nonsense')).body).toEqual({ message: 'Resource not found' });
    const patched = await owner.client.patch('/sites/nonsense', { name: 'x' });
    expect(patched).toMatchObject({ status: 400, body: { message: 'Invalid site ID format' } });
  });
});

describe('GET /sites', () => {
  it('pages oldest first, with links that keep the other parameters', async () => {
    const { accountId: account, owner: other } = await homeport.ownedAccount();
    const names = ['one', 'two', 'three', 'four', 'five'];
    for (const name of names) await other.client.post('/sites', { name, account_id: account });
    const list = (query: string) => other.client.get(`/sites${query}`);

    const all = await list('');
    expect(field(all.body, 'count')).toBe(5);
    expect(field(all.body, 'next')).toBeNull();
    expect(field(all.body, 'previous')).toBeNull();

    const middle = await list(`?account_id=${account}&limit=2&offset=2`);
    expect(field(middle.body, 'results', 0, 'name')).toBe('three');
    expect(field(middle.body, 'next')).toBe(
      `${homeport.origin}/v1/sites?account_id=${account}&limit=2&offset=4`,
    );
    expect(field(middle.body, 'previous')).toBe(
      `${homeport.origin}/v1/sites?account_id=${account}&limit=2&offset=0`,
    );

    const collected: unknown[] = [];
    for (let next: unknown = `${homeport.origin}/v1/sites?limit=2`; typeof next === 'string'; ) {
      const page = await list(new URL(next).search);
      for (const index of [0, 1]) {
        const name = field(page.body, 'results', index, 'name');
        if (name !== undefined) collected.push(name);
      }
      next = field(page.body, 'next');
    }
    expect(collected).toEqual(names);

    expect(field((await list('?limit=0')).body, 'results')).toEqual([]);
    expect((await list('?limit=1000')).status).toBe(200);
    expect(field((await list(`?account_id=${crypto.randomUUID()}`)).body, 'count')).toBe(0);
    expect((await list(`?account_id=${account}&account_id=${account}`)).status).toBe(400);
    for (const query of [
      '?limit=x',
      '?limit=-1',
      '?offset=1.5',
      '?limit=',
      '?limit=1&limit=2',
      '?account_id=x',
    ]) {
      expect((await list(query)).status, query).toBe(400);
    }
    expect(field((await list('?offset=99999999999999999999')).body, 'results')).toEqual([]);
  });

  it('shows partial users the sites with their installs, and those installs only', async () => {
    const { accountId: account, owner: other } = await homeport.ownedAccount();
    const sites: string[] = [];
    for (const name of ['first', 'second', 'third']) {
      sites.push(text((await other.client.post('/sites', { name, account_id: account })).body, 'id'));
    }
    const [first, second, third] = sites;
    const mine = await homeport.install(other, account, { site_id: second });
    const alsoMine = await homeport.install(other, account, { site_id: second });
    await homeport.install(other, account, { site_id: second });
    await homeport.install(other, account, { site_id: first });
    const last = await homeport.install(other, account, { site_id: third });
    const without = await homeport.install(other, account);
    const given = [mine.id, alsoMine.id, last.id, without.id];
    const partial = await homeport.person(account, 'partial', given);
    const shown = { id: second, installs: [mine, alsoMine] };
    expect((await partial.client.get('/sites')).body).toMatchObject({
      count: 2,
      results: [shown, { id: third, installs: [last] }],
    });
    expect((await partial.client.get(`/sites/${second}`)).body).toMatchObject(shown);
    expect(await partial.client.get(`/sites/${first}`)).toMatchObject(NOT_FOUND);
    expect(await partial.client.patch(`/sites/${second}`, { name: 'x' })).toMatchObject(FORBIDDEN);
    expect(await partial.client.delete(`/sites/${second}`)).toMatchObject(FORBIDDEN);
    expect(await partial.client.delete(`/sites/${first}`)).toMatchObject(NOT_FOUND);
    expect(await partial.client.post('/sites', { name: 'x', account_id: account })).toMatchObject(FORBIDDEN);
  });
});
