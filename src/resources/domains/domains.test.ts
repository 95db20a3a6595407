import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, field, text } from '../../../test/client.ts';
import { visit } from '../../../test/edge.ts';
import { overlapping, overlaps } from '../../../test/held-jobs.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { FORBIDDEN, NOT_FOUND, refusal } from '../../../test/refusal.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

type Install = { id: string; name: string };

const newInstall = (): Promise<Install> => homeport.install(owner, accountId);
const domainsOf = ({ id }: Install) => `/installs/${id}/domains`;
const add = (install: Install, name: unknown, more: object = {}) =>
  owner.client.post(domainsOf(install), { name, ...more });
const addBulk = (install: Install, domains: unknown) =>
  owner.client.post(`${domainsOf(install)}/bulk`, { domains });
const change = (install: Install, id: string, body: object) =>
  owner.client.patch(`${domainsOf(install)}/${id}`, body);
const remove = (install: Install, id: string) => owner.client.delete(`${domainsOf(install)}/${id}`);
const read = async (install: Install, id: string) =>
  (await owner.client.get(`${domainsOf(install)}/${id}`)).body;

/** Adds a domain that must be taken, and gives its id. */
async function added(install: Install, name: string, more: object = {}): Promise<string> {
  const answer = await add(install, name, more);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return text(answer.body, 'id');
}

async function list(install: Install, query = ''): Promise<{ name: string; id: string; body: unknown }[]> {
  const results = field((await owner.client.get(domainsOf(install) + query)).body, 'results');
  if (!Array.isArray(results)) throw new Error('no list');
  return results.map((body: unknown) => ({ name: text(body, 'name'), id: text(body, 'id'), body }));
}

const cnameOf = async (install: Install): Promise<string> => (await list(install))[0]?.id ?? '';

let counter = 0;
/** A domain that no other test has. */
function domainName(): string {
  counter += 1;
  return `shop${counter}.example`;
}

const fault = (field: string, code: string, message: string) =>
  refusal(`Domain.${field}`, `invalid_value / ${code}`, message);

describe('the ssl status', () => {
  it('is active of no certificate that has expired since', async () => {
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

describe('an install', () => {
  it('has its own name as its first domain, primary, served and secured', async () => {
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
          redirects_to: [],
          secure_all_urls: false,
        },
      ],
    });
  });

  it('lists its domains oldest first, in pages; paging values that are none stand for the defaults', async () => {
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

describe('POST domains', () => {
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
      redirects_to: [],
      secure_all_urls: false,
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

  it('stores names as IDNA has them, and finds them in any spelling', async () => {
    const install = await newInstall();
    const answer = await add(install, ' MÜNCHEN.Example. ');
    expect(answer.body).toMatchObject({ name: 'xn--mnchen-3ya.example' });
    for (const name of ['münchen.example', 'xn--MNCHEN-3YA.example']) {
      expect(await add(install, name)).toMatchObject(
        refusal(
          'Domain.name',
          'value_unavailable / taken',
          'xn--mnchen-3ya.example is a domain of this install already',
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

  it('says of each unfit name what is wrong with it', async () => {
    const install = await newInstall();
    const hostName = 'Domain name must be a host name like www.example.com or *.example.com';
    for (const [name, code, message] of [
      ['no host', 'invalid_format', hostName],
      ['shop.example/path', 'invalid_format', hostName],
      ['*.*.shop.example', 'invalid_format', hostName],
      ['192.0.2.1', 'ip_address', 'Domain name must be a host name, not an IP address'],
      ['[::1]', 'ip_address', 'Domain name must be a host name, not an IP address'],
      ['co.uk', 'public_suffix', 'co.uk is a public suffix; a domain is at least one label longer'],
      ['*.com', 'public_suffix', 'com is a public suffix; a domain is at least one label longer'],
      ['other.localhost', 'reserved', 'Names under localhost are given by the platform'],
      ['*.localhost', 'reserved', 'Names under localhost are given by the platform'],
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

  it('collects what the install has against a name, its redirect and its being primary', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const [present, foreign] = [domainName(), domainName()];
    await added(install, present);
    const redirect_to = await added(other, foreign);
    expect((await add(install, present, { redirect_to })).body).toMatchObject({
      message: `${present} is a domain of this install already`,
      errors: [
        { field: 'name', type: 'value_unavailable', code: 'taken' },
        { field: 'redirect_to', type: 'access_error', code: 'not_permitted' },
      ],
    });
    expect((await add(install, foreign, { redirect_to, primary: true })).body).toMatchObject({
      errors: [
        { field: 'redirect_to', code: 'not_permitted' },
        { field: 'primary', code: 'duplicate' },
      ],
    });
    const cname = await cnameOf(install);
    expect((await change(install, cname, { redirect_to: cname, primary: false })).body).toMatchObject({
      errors: [
        { field: 'redirect_to', code: 'self' },
        { field: 'primary', code: 'primary_required' },
      ],
    });
    expect(await list(install)).toHaveLength(2);
  });

  it('answers 403 where there is no install to be seen, 400 for what is no id', async () => {
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

  it('is for partial users on their installs only', async () => {
    const [mine, theirs] = [await newInstall(), await newInstall()];
    const partial = await homeport.person(accountId, 'partial', [mine.id]);
    const name = domainName();
    expect((await partial.client.post(domainsOf(mine), { name })).status).toBe(201);
    expect(await partial.client.post(domainsOf(theirs), { name })).toMatchObject(FORBIDDEN);
    expect(await partial.client.get(domainsOf(theirs))).toMatchObject(NOT_FOUND);
  });

  it('serves a wildcard for one label, and exact names before it', async () => {
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

describe('a name that another install has', () => {
  const servedBy = async (name: string, install: Install) =>
    expect((await visit(homeport, `http://${name}/`)).body).toContain(install.name);
  const PENDING = {
    duplicate: true,
    primary: false,
    network_details: { network_info: { status: 'PENDING', ssl: { status: 'pending' } } },
  };

  it('is a duplicate that serves nothing, until the other gives it up; the oldest is next', async () => {
    const [first, second, third] = [await newInstall(), await newInstall(), await newInstall()];
    const name = domainName();
    const at = await added(first, name);
    const answer = await add(second, name.toUpperCase());
    expect(answer).toMatchObject({ status: 201, body: { name, ...PENDING } });
    const next = text(answer.body, 'id');
    const last = await added(third, name);
    await homeport.idle();
    await servedBy(name, first);
    expect(await read(second, next)).toMatchObject(PENDING);
    expect(await read(first, at)).toMatchObject({ duplicate: false });
    const noCertificate = await owner.client.get(`${domainsOf(second)}/${next}/ssl_certificate`);
    expect(noCertificate).toMatchObject(NOT_FOUND);

    expect((await remove(first, at)).status).toBe(204);
    await homeport.idle();
    expect(await read(second, next)).toMatchObject({
      duplicate: false,
      network_details: { network_info: { status: 'ACTIVE', ssl: { status: 'active' } } },
    });
    expect(await read(third, last)).toMatchObject(PENDING);
    await servedBy(name, second);

    // Gone with its install; then with the whole site.
    expect((await owner.client.delete(`/installs/${second.id}`)).status).toBe(204);
    await homeport.idle();
    expect(await read(third, last)).toMatchObject({ duplicate: false });
    await servedBy(name, third);
  });

  it('passes on when the site with its install is deleted', async () => {
    const site = text((await owner.client.post('/sites', { name: 'S', account_id: accountId })).body, 'id');
    const first = await homeport.install(owner, accountId, { site_id: site });
    const second = await newInstall();
    const name = domainName();
    await added(first, name);
    const next = await added(second, name);
    await owner.client.delete(`/sites/${site}`);
    await homeport.idle();
    expect(await read(second, next)).toMatchObject({ duplicate: false });
    await servedBy(name, second);
  });

  it('cannot be primary while it is a duplicate', async () => {
    const [first, second] = [await newInstall(), await newInstall()];
    const name = domainName();
    const at = await added(first, name, { primary: true });
    const refused = fault(
      'primary',
      'duplicate',
      `${name} is served by another install and cannot be the primary domain`,
    );
    expect(await add(second, name, { primary: true })).toMatchObject(refused);
    expect(await list(second)).toHaveLength(1);
    const duplicate = await added(second, name);
    expect(await change(second, duplicate, { primary: true })).toMatchObject(refused);
    await change(first, await cnameOf(first), { primary: true });
    await remove(first, at);
    expect(await change(second, duplicate, { primary: true })).toMatchObject({
      status: 200,
      body: { primary: true, duplicate: false },
    });
  });

  it('takes nothing along when the duplicate is removed', async () => {
    const [first, second] = [await newInstall(), await newInstall()];
    const name = domainName();
    const at = await added(first, name);
    await remove(second, await added(second, name));
    await homeport.idle();
    await servedBy(name, first);
    expect(await read(first, at)).toMatchObject({ duplicate: false });
  });
});

describe('the primary domain', () => {
  const primaryOf = async (install: Install) =>
    field((await owner.client.get(`/installs/${install.id}`)).body, 'primary_domain');

  it('is one, and passes on to whatever is made primary', async () => {
    const install = await newInstall();
    const [one, two] = [domainName(), domainName()];
    expect(await primaryOf(install)).toBe(`${install.name}.localhost`);
    const first = await add(install, one, { primary: true });
    expect(first.body).toMatchObject({ primary: true });
    expect(await primaryOf(install)).toBe(one);
    const second = await added(install, two);
    expect((await change(install, second, { primary: true })).body).toMatchObject({ primary: true });
    expect(await primaryOf(install)).toBe(two);
    expect((await list(install)).map(({ body }) => field(body, 'primary'))).toEqual([false, false, true]);
    expect(await change(install, second, { primary: true })).toMatchObject({ status: 200 });
    const cname = await cnameOf(install);
    expect(await change(install, cname, { primary: true })).toMatchObject({ status: 200 });
    expect(await primaryOf(install)).toBe(`${install.name}.localhost`);
  });

  it('can be neither unset nor deleted nor redirected', async () => {
    const install = await newInstall();
    const [name, target] = [domainName(), domainName()];
    const id = await added(install, name, { primary: true });
    const to = await added(install, target);
    expect(await change(install, id, { primary: false })).toMatchObject(
      fault(
        'primary',
        'primary_required',
        `${name} is the primary domain; make another domain primary instead`,
      ),
    );
    expect(await change(install, to, { primary: false })).toMatchObject({ status: 200 });
    expect(await remove(install, id)).toMatchObject(
      fault('id', 'primary', `${name} is the primary domain; make another domain primary first`),
    );
    expect(await change(install, id, { redirect_to: to })).toMatchObject(
      fault('redirect_to', 'primary', `${name} is the primary domain and cannot be redirected`),
    );
    await change(install, to, { primary: true });
    expect((await remove(install, id)).status).toBe(204);
  });

  it('can be neither a wildcard nor a redirected domain', async () => {
    const install = await newInstall();
    const name = domainName();
    const wildcard = fault('primary', 'wildcard', `*.${name} is a wildcard and cannot be the primary domain`);
    expect(await add(install, `*.${name}`, { primary: true })).toMatchObject(wildcard);
    const wild = await added(install, `*.${name}`);
    expect(await change(install, wild, { primary: true })).toMatchObject(wildcard);

    const redirected = fault(
      'primary',
      'redirected',
      `${name} is redirected; remove its redirect to make it the primary domain`,
    );
    const target = await cnameOf(install);
    expect(await add(install, name, { primary: true, redirect_to: target })).toMatchObject(redirected);
    const id = await added(install, name, { redirect_to: target });
    expect(await change(install, id, { primary: true })).toMatchObject(redirected);
    expect(await change(install, id, { primary: true, redirect_to: null })).toMatchObject({
      status: 200,
      body: { primary: true, redirects_to: [] },
    });
  });

  it('is the install’s own name at first, which cannot be deleted even when another is primary', async () => {
    const install = await newInstall();
    const id = await cnameOf(install);
    const own = fault(
      'id',
      'cname',
      `${install.name}.localhost is the install's own name and cannot be deleted`,
    );
    expect(await remove(install, id)).toMatchObject(own);
    await added(install, domainName(), { primary: true });
    expect(await remove(install, id)).toMatchObject(own);
  });
});

describe('redirects', () => {
  it('are set by id, shown with the name, and served with path and query', async () => {
    const install = await newInstall();
    const [from, to] = [domainName(), domainName()];
    const target = await added(install, to);
    const answer = await add(install, from, { redirect_to: target });
    expect(answer).toMatchObject({ status: 201, body: { redirects_to: [{ id: target, name: to }] } });
    await homeport.idle();
    for (const scheme of ['http', 'https']) {
      const moved = await visit(homeport, `${scheme}://${from}/a%20b/?q=1&r=%2F`);
      expect(moved).toMatchObject({
        status: 301,
        headers: { location: `${scheme}://${to}/a%20b/?q=1&r=%2F` },
      });
    }
    expect((await visit(homeport, `http://${to}/`)).status).toBe(200);

    const id = text(answer.body, 'id');
    const cname = await cnameOf(install);
    expect((await change(install, id, { redirect_to: cname.toUpperCase() })).body).toMatchObject({
      redirects_to: [{ id: cname, name: `${install.name}.localhost` }],
    });
    await homeport.idle();
    expect((await visit(homeport, `http://${from}/x`)).headers.location).toBe(
      `http://${install.name}.localhost/x`,
    );
  });

  it.each([['nil'], [''], [' '], [null]])('are removed by %j', async (nothing) => {
    const install = await newInstall();
    const name = domainName();
    const id = await added(install, name, { redirect_to: await cnameOf(install) });
    expect(await change(install, id, { redirect_to: nothing })).toMatchObject({
      status: 200,
      body: { redirects_to: [] },
    });
    await homeport.idle();
    expect((await visit(homeport, `http://${name}/`)).status).toBe(200);
    // Where there is none, that is how it stays.
    expect((await change(install, id, { redirect_to: nothing })).status).toBe(200);
    expect((await add(install, domainName(), { redirect_to: nothing })).body).toMatchObject({
      redirects_to: [],
    });
  });

  it('lead to a domain of the same install that is no redirect, no wildcard and not itself', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const [one, two, three] = [domainName(), domainName(), domainName()];
    const elsewhere = refusal(
      'Domain.redirect_to',
      'access_error / not_permitted',
      'redirect_to must be a domain of the same install',
    );
    const foreign = await cnameOf(other);
    for (const redirect_to of [foreign, crypto.randomUUID()]) {
      expect(await add(install, one, { redirect_to }), redirect_to).toMatchObject(elsewhere);
    }
    const malformed = refusal(
      'Domain.redirect_to',
      'invalid_value / invalid_format',
      'Invalid domain ID format',
    );
    for (const redirect_to of ['x', 'NIL', one]) {
      expect(await add(install, one, { redirect_to }), redirect_to).toMatchObject(malformed);
      const id = await cnameOf(install);
      expect(await change(install, id, { redirect_to }), redirect_to).toMatchObject(malformed);
    }
    expect(await list(install)).toHaveLength(1);

    const cname = await cnameOf(install);
    const redirected = await added(install, one, { redirect_to: cname });
    expect(await add(install, two, { redirect_to: redirected })).toMatchObject(
      fault('redirect_to', 'redirect_to_redirect', `${one} is redirected itself; choose where it leads to`),
    );
    const wild = await added(install, `*.${two}`);
    expect(await add(install, two, { redirect_to: wild })).toMatchObject(
      fault('redirect_to', 'wildcard', `*.${two} is a wildcard and cannot be redirected to`),
    );
    expect(await change(install, redirected, { redirect_to: redirected })).toMatchObject(
      fault('redirect_to', 'self', `${one} cannot be redirected to itself`),
    );
    expect(await change(install, redirected, { redirect_to: foreign })).toMatchObject(elsewhere);

    // A domain that others lead to cannot lead on.
    const target = await added(install, three);
    await change(install, redirected, { redirect_to: target });
    expect(await change(install, target, { redirect_to: cname })).toMatchObject(
      fault(
        'redirect_to',
        'redirect_to_redirect',
        `Other domains are redirected to ${three}; change them first`,
      ),
    );
    expect(await remove(install, target)).toMatchObject(
      fault('id', 'redirect_target', `Other domains are redirected to ${three}; change them first`),
    );
    await remove(install, redirected);
    expect((await remove(install, target)).status).toBe(204);
  });

  it('may come from a wildcard', async () => {
    const install = await newInstall();
    const name = domainName();
    const target = await added(install, name);
    await added(install, `*.${name}`, { redirect_to: target });
    await homeport.idle();
    expect((await visit(homeport, `http://anything.${name}/x`)).headers.location).toBe(`http://${name}/x`);
  });
});

describe('secure_all_urls', () => {
  it('sends visitors by HTTP to HTTPS, with path and query, until it is switched off', async () => {
    const install = await newInstall();
    const [name, from] = [domainName(), domainName()];
    const id = await added(install, name);
    await added(install, from, { redirect_to: id });
    expect(await change(install, id, { secure_all_urls: true })).toMatchObject({
      status: 200,
      body: { secure_all_urls: true },
    });
    await homeport.idle();
    expect(await visit(homeport, `http://${name}/a?b=c`)).toMatchObject({
      status: 301,
      headers: { location: `https://${name}/a?b=c` },
    });
    expect((await visit(homeport, `https://${name}/`)).status).toBe(200);
    // One step, not two.
    expect((await visit(homeport, `http://${from}/a?b=c`)).headers.location).toBe(`https://${name}/a?b=c`);

    await change(install, id, { secure_all_urls: false });
    await homeport.idle();
    expect((await visit(homeport, `http://${name}/`)).status).toBe(200);
  });
});

describe('POST domains/bulk', () => {
  it('adds all, redirects by names of the request or the install, and answers with the first and all', async () => {
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

  it('takes 1 to 20 names', async () => {
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
      { field: 'domains.2.redirect_to', type: 'invalid_value', code: 'invalid_type' },
      { field: 'domains.2.name', type: 'invalid_value', code: 'reserved' },
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
        message: `${taken} is a domain of this install already`,
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

describe('PATCH and DELETE of what is not there', () => {
  it('answers as the rows say', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const foreign = await cnameOf(other);
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
    const id = await cnameOf(install);
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

describe('at the same time', () => {
  /** What the database has of a name; the oldest first. */
  const rowsOf = (name: string) =>
    homeport.platform.database.reader
      .selectFrom('domains')
      .select(['install_id', 'is_duplicate'])
      .where('name', '=', name)
      .execute();

  it('gives a name to one of several installs, and to the others as a duplicate', async () => {
    const installs = await Promise.all(Array.from({ length: 6 }, newInstall));
    const name = domainName();
    const answers = await Promise.all(installs.map((install) => add(install, name)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(answers.filter(({ body }) => field(body, 'duplicate') === false)).toHaveLength(1);
  });

  it('gives a name to an install once', async () => {
    const install = await newInstall();
    const name = domainName();
    const answers = await Promise.all(Array.from({ length: 6 }, () => add(install, name)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
  });

  it('takes the same names in any order from many, and gives them all back', async () => {
    const installs = await Promise.all(Array.from({ length: 6 }, newInstall));
    const names = Array.from({ length: 20 }, domainName);
    const answers = await Promise.all(
      installs.map((install, index) => {
        const order = index % 2 === 0 ? names : names.toReversed();
        return addBulk(
          install,
          order.map((name) => ({ name })),
        );
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    const deleted = await Promise.all(installs.map(({ id }) => owner.client.delete(`/installs/${id}`)));
    expect(deleted.map(({ status }) => status)).toEqual(Array(6).fill(204));
    expect(await rowsOf(names[0] ?? '')).toEqual([]);
  });

  it('answers purges and checks beside a deletion as if before or after it', async () => {
    for (let round = 0; round < 8; round++) {
      const install = await newInstall();
      const cname = await cnameOf(install);
      const [purged, checked, deleted] = await Promise.all([
        owner.client.post(`/installs/${install.id}/purge_cache`, { type: 'object' }),
        owner.client.post(`${domainsOf(install)}/${cname}/check_status`),
        owner.client.delete(`/installs/${install.id}`),
      ]);
      expect([202, 404]).toContain(purged.status);
      expect([202, 404]).toContain(checked.status);
      expect(deleted.status).toBe(204);
    }
  });

  it('leaves one primary domain', async () => {
    const install = await newInstall();
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.push(await added(install, domainName()));
    const answers = await Promise.all(ids.map((id) => change(install, id, { primary: true })));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    const primary = (await list(install)).filter(({ body }) => field(body, 'primary') === true);
    expect(primary).toHaveLength(1);
    expect((await owner.client.get(`/installs/${install.id}`)).body).toMatchObject({
      primary_domain: primary[0]?.name,
    });
  });

  /** Where transactions overlap, each of these once ended with a name that nobody served. */
  describe.runIf(overlaps())('as far as transactions can overlap', () => {
    it.each(['the domain', 'its install'])('a name that is added while %s goes is served', async (what) => {
      const [first, second] = [await newInstall(), await newInstall()];
      const name = domainName();
      const at = await added(first, name);
      await homeport.idle();
      const answers = await overlapping(homeport, [
        () => (what === 'the domain' ? remove(first, at) : owner.client.delete(`/installs/${first.id}`)),
        () => add(second, name),
      ]);
      expect(answers).toMatchObject([{ status: 204 }, { status: 201, body: { duplicate: false } }]);
      expect(await rowsOf(name)).toEqual([{ install_id: second.id, is_duplicate: false }]);
    });

    it('a name that is added before the domain goes is served', async () => {
      const [first, second] = [await newInstall(), await newInstall()];
      const name = domainName();
      const at = await added(first, name);
      await homeport.idle();
      const answers = await overlapping(homeport, [() => add(second, name), () => remove(first, at)]);
      expect(answers.map(({ status }) => status)).toEqual([201, 204]);
      expect(await rowsOf(name)).toEqual([{ install_id: second.id, is_duplicate: false }]);
    });

    it.each([
      ['first', 'the domain'],
      ['first', 'its install'],
      ['last', 'the domain'],
      ['last', 'its install'],
    ])('the next but one is served when the next goes too (%s, %s)', async (order, what) => {
      const [first, next, last] = [await newInstall(), await newInstall(), await newInstall()];
      const name = domainName();
      const at = await added(first, name);
      const duplicate = await added(next, name);
      await added(last, name);
      await homeport.idle();
      const requests = [
        () => remove(first, at),
        () => (what === 'the domain' ? remove(next, duplicate) : owner.client.delete(`/installs/${next.id}`)),
      ];
      const answers = await overlapping(homeport, order === 'first' ? requests : requests.reverse());
      expect(answers.map(({ status }) => status)).toEqual([204, 204]);
      expect(await rowsOf(name)).toEqual([{ install_id: last.id, is_duplicate: false }]);
    });
  });

  it('leaves a name that comes and goes with exactly one install that serves it', async () => {
    const installs = await Promise.all(Array.from({ length: 5 }, newInstall));
    const names = [domainName(), domainName()];
    for (let round = 0; round < 4; round++) {
      const present = (await Promise.all(installs.map((install) => list(install)))).flatMap(
        (domains, index) => domains.slice(1).map(({ id }) => ({ install: installs[index], id })),
      );
      const answers = await Promise.all([
        ...installs.flatMap((install) =>
          round % 2 === 0
            ? names.map((name) => add(install, name))
            : [
                addBulk(
                  install,
                  names.map((name) => ({ name })),
                ),
              ],
        ),
        ...present.map(({ install, id }) =>
          install ? remove(install, id) : Promise.reject(new Error('none')),
        ),
      ]);
      for (const { status, body } of answers) expect([201, 204, 400], JSON.stringify(body)).toContain(status);
      for (const name of names) {
        const rows = await rowsOf(name);
        const serving = rows.filter((row) => !row.is_duplicate);
        expect(serving, `round ${round}: ${rows.length} rows`).toHaveLength(rows.length === 0 ? 0 : 1);
      }
    }
    // And again with the installs going away.
    await Promise.all(installs.flatMap((install) => names.map((name) => add(install, name))));
    const gone = installs.slice(0, 4);
    const late = await newInstall();
    await Promise.all([
      ...gone.map((install) => owner.client.delete(`/installs/${install.id}`)),
      ...names.map((name) => add(late, name)),
    ]);
    for (const name of names) {
      const rows = await rowsOf(name);
      expect(rows).toHaveLength(2);
      expect(rows.filter((row) => !row.is_duplicate)).toHaveLength(1);
    }
  });
});
