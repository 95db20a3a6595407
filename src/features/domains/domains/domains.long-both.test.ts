import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import { FORBIDDEN, NOT_FOUND, refusal } from '../../../../test/refusal.ts';
import { domainCalls, domainName, domainsOf, fault } from './domains.fixture.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const newInstall = () => homeport.install(owner, accountId);
const { add, addBulk, added, change, defaultDomain, list, read, remove } = domainCalls(() => owner.client);

describe('the ssl status', () => {
  it('is not active once the certificate has expired', async () => {
    const install = await newInstall();
    const id = await added(install, domainName());
    await homeport.idle();
    const sslOf = async () =>
      field(await read(install, id), 'network_details', 'network_info', 'ssl', 'status');
    expect(await sslOf()).toBe('active');
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('certificates')
        .set({ not_after: new Date(Date.now() - 1000).toISOString() })
        .where('domain_id', '=', id)
        .execute(),
    );
    expect(await sslOf()).toBe('failed');
    const listed = (await list(install)).find((domain) => domain.id === id);
    expect(field(listed?.body, 'network_details', 'network_info', 'ssl', 'status')).toBe('failed');
  });
});

onlyOn('sqlite', describe)('an install', () => {
  it('has its default domain as first domain, primary, served and secured', async () => {
    const install = await newInstall();
    const name = `${install.name}.localhost`;
    expect((await owner.client.get(domainsOf(install))).body).toEqual({
      previous: null,
      next: null,
      count: 1,
      results: [
        {
          id: expect.any(String),
          name,
          duplicate: false,
          primary: true,
          network_type: 'AN',
          network_details: {
            dns_config_info: { cname: name, a_records: ['127.0.0.1'] },
            network_info: { status: 'ACTIVE', ssl: { status: 'active' } },
          },
          redirect_to: null,
          redirects_to: [],
          secure_all_urls: false,
          ownership_status: 'TXT_VERIFIED',
          txt_verified_time: null,
          txt_verified_domain: name,
          txt_verification_key: null,
          txt_verification_value: null,
        },
      ],
    });
  });

  it('lists its domains oldest first, in pages, and uses defaults for invalid paging values', async () => {
    const install = await newInstall();
    const names = [`${install.name}.localhost`, domainName(), domainName(), domainName()];
    for (const name of names.slice(1)) await added(install, name);
    expect((await list(install)).map(({ name }) => name)).toEqual(names);
    const address = `${homeport.origin}/v1${domainsOf(install)}`;
    const page = await owner.client.get(`${domainsOf(install)}?limit=2&offset=1`);
    expect(page.body).toMatchObject({
      count: 4,
      next: `${address}?limit=2&offset=3`,
      previous: `${address}?limit=2&offset=0`,
      results: [{ name: names[1] }, { name: names[2] }],
    });
    for (const query of ['?limit=x', '?limit=-1&offset=-1', '?limit=1.5', '?offset=', '?limit=1&limit=2']) {
      expect(
        (await list(install, query)).map(({ name }) => name),
        query,
      ).toEqual(names);
    }
    expect(await list(install, '?limit=0')).toEqual([]);
    for (const id of ['x', crypto.randomUUID()]) {
      expect(await owner.client.get(`/installs/${id}/domains`)).toMatchObject(NOT_FOUND);
    }
  });
});

onlyOn('sqlite', describe)('POST domains', () => {
  it('adds a name, and the edge serves it by HTTP and HTTPS', async () => {
    const install = await newInstall();
    const name = domainName();
    const answer = await add(install, name);
    expect(answer.status).toBe(201);
    const pending = { status: 'PENDING', ssl: { status: 'pending' } };
    const expected = {
      id: expect.any(String),
      name,
      duplicate: false,
      primary: false,
      network_type: 'AN',
      network_details: {
        dns_config_info: { cname: `${install.name}.localhost`, a_records: ['127.0.0.1'] },
        network_info: pending,
      },
      redirect_to: null,
      redirects_to: [],
      secure_all_urls: false,
      ownership_status: 'TXT_VERIFICATION_PENDING',
      txt_verified_time: null,
      txt_verified_domain: name,
      txt_verification_key: `_homeport-challenge.${name}`,
      txt_verification_value: expect.stringMatching(/^homeport-verification=[\w-]{32}$/),
    };
    expect(answer.body).toEqual(expected);
    await homeport.idle();
    expect(await read(install, text(answer.body, 'id'))).toMatchObject({
      network_details: { network_info: { status: 'ACTIVE', ssl: { status: 'active' } } },
    });
    for (const scheme of ['http', 'https']) {
      const page = await visit(homeport, `${scheme}://${name}/`);
      expect(page.status).toBe(200);
      expect(page.body).toContain(install.name);
      expect(page.certificateNames).toBe(scheme === 'https' ? `DNS:${name}` : '');
    }
  });

  it('stores names as IDNA, and finds them in any spelling', async () => {
    const install = await newInstall();
    const answer = await add(install, ' MÜNCHEN.Example. ');
    expect(answer.body).toMatchObject({ name: 'xn--mnchen-3ya.example' });
    for (const name of ['münchen.example', 'xn--MNCHEN-3YA.example']) {
      expect(await add(install, name)).toMatchObject(
        refusal(
          'Domain.name',
          'value_unavailable / taken',
          'xn--mnchen-3ya.example is already a domain of this install',
        ),
      );
    }
  });

  it.each([[undefined], [''], ['  ']])('refuses the missing name %j', async (name) => {
    expect(await add(await newInstall(), name)).toMatchObject(
      refusal(
        'Domain.name',
        'missing_field / required',
        'Domain name cannot be empty',
        'Domain name is required',
      ),
    );
  });

  it('says what is wrong with each invalid name', async () => {
    const install = await newInstall();
    const hostName = 'Domain name must be a host name like www.example.com or *.example.com';
    for (const [name, code, message] of [
      ['no host', 'invalid_format', hostName],
      [
        'shop.example/path',
        'invalid_format',
        'Domain name must be the name alone, without a path: shop.example',
      ],
      ['*.*.shop.example', 'invalid_format', hostName],
      ['192.0.2.1', 'ip_address', 'Domain name must be a host name, not an IP address'],
      ['[::1]', 'ip_address', 'Domain name must be a host name, not an IP address'],
      ['co.uk', 'public_suffix', 'co.uk is a public suffix; a domain is at least one label longer'],
      ['*.com', 'public_suffix', 'com is a public suffix; a domain is at least one label longer'],
      ['other.localhost', 'reserved', 'Names under localhost are assigned by the platform'],
      ['*.localhost', 'reserved', 'Names under localhost are assigned by the platform'],
    ] as const) {
      expect(await add(install, name), name).toMatchObject(fault('name', code, message));
    }
    expect(await list(install)).toHaveLength(1);
  });

  it('collects faults of types in the order of the fields', async () => {
    const answer = await add(await newInstall(), 7, { primary: 'yes', redirect_to: 5 });
    expect(answer.status).toBe(400);
    expect(field(answer.body, 'errors')).toMatchObject([
      { resource: 'Domain', field: 'name', type: 'invalid_value', code: 'invalid_type' },
      { resource: 'Domain', field: 'primary', type: 'invalid_value', code: 'invalid_type' },
      { resource: 'Domain', field: 'redirect_to', type: 'invalid_value', code: 'invalid_type' },
    ]);
  });

  it('collects faults of types and of rules in the order of the fields', async () => {
    const install = await newInstall();
    expect((await add(install, '192.0.2.1', { primary: 'yes', redirect_to: 'x' })).body).toMatchObject({
      message: 'Domain name must be a host name, not an IP address',
      errors: [
        { field: 'name', type: 'invalid_value', code: 'ip_address' },
        { field: 'primary', type: 'invalid_value', code: 'invalid_type' },
        { field: 'redirect_to', type: 'invalid_value', code: 'invalid_format' },
      ],
    });
    expect((await add(install, 'a.localhost', { redirect_to: 5 })).body).toMatchObject({
      errors: [
        { field: 'name', code: 'reserved' },
        { field: 'redirect_to', code: 'invalid_type' },
      ],
    });
    expect(await list(install)).toHaveLength(1);
  });

  it('collects faults of the name, its redirect and its use as primary domain', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const [present, foreign] = [domainName(), domainName()];
    await added(install, present);
    const redirect_to = await added(other, foreign);
    expect((await add(install, present, { redirect_to })).body).toMatchObject({
      message: `${present} is already a domain of this install`,
      errors: [
        { field: 'name', type: 'value_unavailable', code: 'taken' },
        { field: 'redirect_to', type: 'access_error', code: 'not_permitted' },
      ],
    });
    expect((await add(install, foreign, { redirect_to, primary: true })).body).toMatchObject({
      errors: [
        { field: 'primary', code: 'duplicate' },
        { field: 'redirect_to', code: 'not_permitted' },
      ],
    });
    const cname = await defaultDomain(install);
    expect((await change(install, cname, { redirect_to: cname, primary: false })).body).toMatchObject({
      message: `${install.name}.localhost is the primary domain; make another domain primary instead`,
      errors: [
        { field: 'primary', code: 'primary_required' },
        { field: 'redirect_to', code: 'self' },
      ],
    });
    expect(await list(install)).toHaveLength(2);
  });

  it('answers 403 for a hidden or missing install, 400 for an invalid id', async () => {
    const other = await homeport.ownedAccount();
    const hidden = await homeport.install(other.owner, other.accountId);
    for (const id of [hidden.id, crypto.randomUUID()]) {
      expect(await owner.client.post(`/installs/${id}/domains`, { name: domainName() })).toMatchObject(
        FORBIDDEN,
      );
      expect(
        await owner.client.post(`/installs/${id}/domains/bulk`, { domains: [{ name: domainName() }] }),
      ).toMatchObject(FORBIDDEN);
    }
    expect(await owner.client.post('/installs/x/domains', {})).toMatchObject({
      status: 400,
      body: { message: 'Invalid install ID format' },
    });
  });

  it('allows partial users only on their installs', async () => {
    const [mine, theirs] = [await newInstall(), await newInstall()];
    const partial = await homeport.person(accountId, 'partial', [mine.id]);
    const name = domainName();
    expect((await partial.client.post(domainsOf(mine), { name })).status).toBe(201);
    expect(await partial.client.post(domainsOf(theirs), { name })).toMatchObject(FORBIDDEN);
    expect(await partial.client.get(domainsOf(theirs))).toMatchObject(NOT_FOUND);
  });

  it('matches one label by a wildcard, and prefers exact names', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const name = domainName();
    await added(install, `*.${name}`);
    await added(other, `exact.${name}`);
    await homeport.idle();
    const secure = await visit(homeport, `https://any.${name}/`);
    expect(secure).toMatchObject({ status: 200, certificateNames: `DNS:*.${name}` });
    expect(secure.body).toContain(install.name);
    expect((await visit(homeport, `http://exact.${name}/`)).body).toContain(other.name);
    for (const unserved of [name, `a.b.${name}`]) {
      expect((await visit(homeport, `http://${unserved}/`)).status).toBe(404);
    }
  });
});

onlyOn('sqlite', describe)('POST domains/bulk', () => {
  it('adds all, redirects to names of the request or the install, and returns the first and all', async () => {
    const install = await newInstall();
    const present = domainName();
    const presentId = await added(install, present);
    const [one, two, three, four] = [domainName(), domainName(), domainName(), domainName()];
    const answer = await addBulk(install, [
      { name: one, redirect_to: two.toUpperCase() },
      { name: two },
      { name: three, redirect_to: present },
      { name: four, redirect_to: `${install.name}.localhost` },
      { name: `*.${four}`, redirect_to: '' },
    ]);
    expect(answer.status).toBe(201);
    const ids = new Map((await list(install)).map(({ name, id }) => [name, id]));
    const shape = (name: string, target?: string) => ({
      id: ids.get(name),
      name,
      duplicate: false,
      primary: false,
      redirect_to: target === undefined ? null : { id: ids.get(target), name: target },
      redirects_to: target === undefined ? null : { id: ids.get(target), name: target },
    });
    const first = shape(one, two);
    expect(answer.body).toEqual({
      ...first,
      domains: [
        first,
        shape(two),
        shape(three, present),
        shape(four, `${install.name}.localhost`),
        shape(`*.${four}`),
      ],
    });
    expect(ids.get(present)).toBe(presentId);
    await homeport.idle();
    expect((await visit(homeport, `http://${one}/x`)).headers.location).toBe(`http://${two}/x`);
  });

  it('marks duplicates', async () => {
    const [first, second] = [await newInstall(), await newInstall()];
    const [name, free] = [domainName(), domainName()];
    await added(first, name);
    const answer = await addBulk(second, [{ name: free }, { name }]);
    expect(answer.body).toMatchObject({
      duplicate: false,
      domains: [{ duplicate: false }, { duplicate: true }],
    });
  });

  it('accepts 1 to 20 names', async () => {
    const install = await newInstall();
    const names = (count: number) => Array.from({ length: count }, () => ({ name: domainName() }));
    for (const [domains, code] of [
      [[], 'too_few'],
      [names(21), 'too_many'],
      ['x', 'invalid_type'],
      [null, 'invalid_type'],
    ] as const) {
      const answer = await addBulk(install, domains);
      expect(answer.status).toBe(400);
      expect(field(answer.body, 'errors')).toMatchObject([
        { resource: 'Domain', field: 'domains', type: 'invalid_value', code },
      ]);
    }
    expect((await owner.client.post(`${domainsOf(install)}/bulk`, {})).body).toMatchObject({
      errors: [{ resource: 'Domain', field: 'domains', type: 'missing_field', code: 'required' }],
    });
    const most = await addBulk(install, names(20));
    expect(most.status).toBe(201);
    expect(field(most.body, 'domains')).toHaveLength(20);
    expect(await list(install)).toHaveLength(21);
  });

  it('adds all or none, and names every fault with its place', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const taken = domainName();
    await added(install, taken);
    const foreign = domainName();
    await added(other, foreign);
    const [one, two] = [domainName(), domainName()];

    const faults = async (domains: unknown): Promise<unknown> => {
      const answer: Answer = await addBulk(install, domains);
      expect(answer.status).toBe(400);
      return field(answer.body, 'errors');
    };
    expect(await faults([{ name: one }, { name: '' }, {}, { name: 5 }])).toMatchObject([
      {
        field: 'domains.1.name',
        type: 'missing_field',
        code: 'required',
        message: 'Domain name cannot be empty',
      },
      {
        field: 'domains.2.name',
        type: 'missing_field',
        code: 'required',
        message: 'Domain name cannot be empty',
      },
      { field: 'domains.3.name', type: 'invalid_value', code: 'invalid_type' },
    ]);
    expect((await addBulk(install, [{}])).body).toMatchObject({ message: 'Domain name is required' });
    expect(
      await faults([{ name: one }, { name: '192.0.2.1' }, { name: one.toUpperCase() }, { name: 'com' }]),
    ).toMatchObject([
      { field: 'domains.1.name', type: 'invalid_value', code: 'ip_address' },
      { field: 'domains.2.name', type: 'value_unavailable', code: 'taken' },
      { field: 'domains.3.name', type: 'invalid_value', code: 'public_suffix' },
    ]);
    expect(
      await faults([{ name: 'com' }, { name: 5 }, { name: '*.localhost', redirect_to: 7 }, { name: one }]),
    ).toMatchObject([
      { field: 'domains.0.name', type: 'invalid_value', code: 'public_suffix' },
      { field: 'domains.1.name', type: 'invalid_value', code: 'invalid_type' },
      { field: 'domains.2.name', type: 'invalid_value', code: 'reserved' },
      { field: 'domains.2.redirect_to', type: 'invalid_value', code: 'invalid_type' },
    ]);
    expect(
      await faults([{ name: taken }, { name: 'com', redirect_to: foreign }, { name: one }]),
    ).toMatchObject([
      { field: 'domains.0.name', type: 'value_unavailable', code: 'taken' },
      { field: 'domains.1.name', type: 'invalid_value', code: 'public_suffix' },
      { field: 'domains.1.redirect_to', type: 'access_error', code: 'not_permitted' },
    ]);
    expect(await faults([{ name: one }, { name: taken }])).toMatchObject([
      {
        field: 'domains.1.name',
        type: 'value_unavailable',
        code: 'taken',
        message: `${taken} is already a domain of this install`,
      },
    ]);
    expect(await faults([{ name: one }, { name: two, redirect_to: foreign }])).toMatchObject([
      { field: 'domains.1.redirect_to', type: 'access_error', code: 'not_permitted' },
    ]);
    expect(
      await faults([
        { name: one, redirect_to: foreign },
        { name: two, redirect_to: two },
      ]),
    ).toMatchObject([
      { field: 'domains.0.redirect_to', code: 'not_permitted' },
      { field: 'domains.1.redirect_to', code: 'self' },
    ]);
    expect(
      (await addBulk(install, [{ name: one, redirect_to: foreign }, { name: 'com' }])).body,
    ).toMatchObject({
      message: 'redirect_to must be a domain of the same install',
      errors: [
        { field: 'domains.0.redirect_to', code: 'not_permitted' },
        { field: 'domains.1.name', code: 'public_suffix' },
      ],
    });
    // A refused name already has its fault, so redirects to it add none.
    expect(
      await faults([
        { name: one, redirect_to: ` B_bad.${two}` },
        { name: `b_bad.${two}` },
        { name: two, redirect_to: `c_bad.${two}` },
      ]),
    ).toMatchObject([
      { field: 'domains.1.name', code: 'invalid_format' },
      { field: 'domains.2.redirect_to', code: 'not_permitted' },
    ]);
    expect(await faults([{ name: one, redirect_to: one }])).toMatchObject([
      { field: 'domains.0.redirect_to', code: 'self' },
    ]);
    expect(
      await faults([
        { name: one, redirect_to: two },
        { name: two, redirect_to: taken },
      ]),
    ).toMatchObject([{ field: 'domains.1.redirect_to', code: 'redirect_to_redirect' }]);
    expect((await list(install)).map(({ name }) => name)).toEqual([`${install.name}.localhost`, taken]);
  });
});

onlyOn('sqlite', describe)('PATCH and DELETE of a missing domain', () => {
  it('answer with the documented statuses', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const foreign = await defaultDomain(other);
    for (const id of [foreign, crypto.randomUUID()]) {
      expect(await change(install, id, { primary: true })).toMatchObject(NOT_FOUND);
      expect(await remove(install, id)).toMatchObject(NOT_FOUND);
      expect(await owner.client.get(`${domainsOf(install)}/${id}`)).toMatchObject(NOT_FOUND);
    }
    const malformed = { status: 400, body: { message: 'Invalid domain ID format' } };
    expect(await change(install, 'x', {})).toMatchObject(malformed);
    expect(await remove(install, 'x')).toMatchObject(malformed);
    expect(await owner.client.get(`${domainsOf(install)}/x`)).toMatchObject(NOT_FOUND);
  });

  it('changes nothing for an empty body or unknown fields, and refuses wrong types', async () => {
    const install = await newInstall();
    const id = await defaultDomain(install);
    const before = await read(install, id);
    expect((await change(install, id, {})).body).toEqual(before);
    expect((await change(install, id, { name: 'new.example', colour: 1 })).body).toEqual(before);
    const wrong = await change(install, id, { primary: 1, redirect_to: {}, secure_all_urls: 'yes' });
    expect(wrong.status).toBe(400);
    expect(field(wrong.body, 'errors')).toMatchObject(
      ['primary', 'redirect_to', 'secure_all_urls'].map((name) => ({ field: name, code: 'invalid_type' })),
    );
  });
});
