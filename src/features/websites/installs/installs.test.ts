import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { FORBIDDEN, NOT_FOUND, refusal } from '../../../../test/refusal.ts';
import { installCalls, NO_SITE } from './installs.fixture.ts';
import { isReservedName } from './reserved-names.ts';

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

const { create, newSite, read } = installCalls(() => ({ accountId, owner }));

describe('POST /installs', () => {
  it('creates a pending install that becomes active once its website answers', async () => {
    const name = installName();
    const answer = await create({ name });
    expect(answer.status).toBe(201);
    const id = text(answer.body, 'id');
    const install = {
      id,
      name,
      account: { id: accountId },
      php_version: null,
      wp_version: null,
      defer_wordpress_upgrades_until: null,
      status: 'pending',
      cname: `${name}.localhost`,
      environment: null,
      site: null,
      primary_domain: `${name}.localhost`,
      stable_ips: null,
      is_multisite: false,
      lost_data: null,
      created_at: clock.now().toISOString(),
    };
    expect(answer.body).toEqual(install);
    await homeport.idle();
    expect(await read(id)).toEqual({ ...install, status: 'active' });
    for (const scheme of ['http', 'https']) {
      const page = await visit(homeport, `${scheme}://${name}.localhost/`);
      expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
      expect(page.body).toContain(`<h1>${name}</h1>`);
    }
  });

  it.each([['abc'], ['a1b'], ['a-b'], ['a--b'], [`a${'b'.repeat(39)}`]])(
    'accepts the name %s',
    async (name) => {
      expect((await create({ name })).status).toBe(201);
    },
  );

  it.each([
    ['ab'],
    [`a${'b'.repeat(40)}`],
    ['Abc'],
    ['1abc'],
    ['-abc'],
    ['abc-'],
    ['a_b'],
    ['a.b'],
    ['a b'],
    ['äbc'],
    ['abc\n'],
    ['../x'],
  ])('refuses the name %j', async (name) => {
    expect(await create({ name })).toMatchObject(
      refusal(
        'Installation.name',
        'invalid_value / invalid_format',
        'Installation name must be 3 to 40 lower-case letters, digits or hyphens, begin with a letter and not end with a hyphen',
        'Invalid install name',
      ),
    );
  });

  it.each([[undefined], [''], [' ']])('refuses the missing name %j', async (name) => {
    expect(await create({ name })).toMatchObject(
      refusal(
        'Installation.name',
        'missing_field / required',
        'Installation name cannot be empty',
        'Install name is required',
      ),
    );
  });

  it('reports all faults in field order', async () => {
    const answer = await owner.client.post('/installs', { environment: 'live', site_id: 'x', name: 'X' });
    expect(answer.status).toBe(400);
    expect(field(answer.body, 'message')).toBe('Invalid install name');
    expect(field(answer.body, 'errors')).toMatchObject([
      { resource: 'Installation', field: 'name', code: 'invalid_format' },
      { resource: 'Installation', field: 'account_id', type: 'missing_field', code: 'required' },
      { resource: 'Installation', field: 'site_id', type: 'invalid_value', code: 'invalid_format' },
      {
        resource: 'Installation',
        field: 'environment',
        type: 'invalid_value',
        code: 'not_allowed',
        message: 'environment must be one of: production, staging, development, null',
      },
    ]);
  });

  it('gives each name once on the whole platform', async () => {
    const name = installName();
    const other = await homeport.ownedAccount();
    expect((await create({ name })).status).toBe(201);
    const taken = refusal(
      'Installation.name',
      'value_unavailable / taken',
      `The install name "${name}" is already taken`,
    );
    expect(await create({ name })).toMatchObject(taken);
    expect(await create({ name, account_id: other.accountId }, other.owner.client)).toMatchObject(taken);
    const site = await newSite(other.accountId, other.owner);
    expect((await create({ name, site_id: site })).body).toMatchObject({
      errors: [{ field: 'name', code: 'taken' }, ...NO_SITE.body.errors],
    });
    expect((await create({ name, php_version: '8.2' })).body).toMatchObject({
      message: `The install name "${name}" is already taken`,
      errors: [
        { field: 'name', code: 'taken' },
        { field: 'php_version', code: 'not_offered' },
      ],
    });
    expect((await other.owner.client.get('/installs')).body).toMatchObject({ count: 0, results: [] });
  });

  it('reserves the names of the platform’s own hosts', async () => {
    expect(await create({ name: 'www' })).toMatchObject(
      refusal('Installation.name', 'invalid_value / reserved', 'The name "www" is reserved for the platform'),
    );
    // Other faults are reported with it.
    expect(await create({ name: 'www', php_version: '8.2' })).toMatchObject({
      body: { errors: [{ code: 'reserved' }, { field: 'php_version', code: 'not_offered' }] },
    });
    const other = await homeport.ownedAccount();
    expect((await create({ name: 'www', account_id: other.accountId })).body).toMatchObject({
      errors: [{ code: 'reserved' }, { field: 'account_id', code: 'not_permitted' }],
    });
    const config = { publicUrl: 'https://panel.sites.example:8443', siteDomain: 'sites.example' };
    expect(isReservedName('panel', config)).toBe(true);
    expect(isReservedName('www', config)).toBe(true);
    expect(isReservedName('shop', config)).toBe(false);
    // A restore check deletes the install of its name.
    expect(isReservedName('restore-check-0a1b2c3d', config)).toBe(true);
    expect(isReservedName('panel', { ...config, siteDomain: 'other.example' })).toBe(false);
    const hostNames = ['203.0.113.7', 'web1.sites.example', 'web2.other.example'];
    expect(isReservedName('web1', config, hostNames)).toBe(true);
    expect(isReservedName('web2', config, hostNames)).toBe(false);
  });

  it.each(['admin', 'autodiscover', 'cpanel', 'ftp', 'mail', 'ns1', 'ns2', 'ns3', 'ns4', 'webmail', 'wpad'])(
    'refuses %j, which visitors attribute to the operator',
    async (name) => {
      expect(await create({ name })).toMatchObject(
        refusal(
          'Installation.name',
          'invalid_value / reserved',
          `The name "${name}" is reserved for the platform`,
        ),
      );
    },
  );

  it.each(['xn--zz', 'xn--mnchen-3ya'])('refuses the encoded name %s', async (name) => {
    expect(await create({ name })).toMatchObject(
      refusal(
        'Installation.name',
        'invalid_value / invalid_format',
        `The name "${name}" begins with xn--; choose another`,
      ),
    );
  });

  it('fills a free slot of a site in the same account', async () => {
    const site = await newSite();
    const answer = await create({ site_id: site.toUpperCase(), environment: 'production' });
    expect(answer).toMatchObject({ status: 201, body: { site: { id: site }, environment: 'production' } });
    expect(await create({ site_id: site, environment: 'production' })).toMatchObject(
      refusal(
        'Installation.environment',
        'value_unavailable / taken',
        'The site already has an install in its production environment',
      ),
    );
    const slot = { name: text(answer.body, 'name'), site_id: site, environment: 'production' };
    expect((await create({ ...slot, php_version: '8.2' })).body).toMatchObject({
      errors: [
        { field: 'name', code: 'taken' },
        { field: 'environment', type: 'value_unavailable', code: 'taken' },
        { field: 'php_version', code: 'not_offered' },
      ],
    });
    for (const environment of ['staging', 'development', null, null, undefined]) {
      expect((await create({ site_id: site, environment })).status).toBe(201);
    }
    // Without a site there are no slots.
    expect((await create({ environment: 'production', site_id: null })).status).toBe(201);
    expect((await create({ environment: 'production' })).status).toBe(201);
    const installs = field((await owner.client.get(`/sites/${site}`)).body, 'installs');
    expect(installs).toHaveLength(6);
    expect(installs).toMatchObject([
      { id: text(answer.body, 'id'), environment: 'production' },
      {},
      {},
      {},
      {},
      {},
    ]);
  });

  it('refuses sites of other accounts like missing ones', async () => {
    const other = await homeport.ownedAccount();
    const foreign = await newSite(other.accountId, other.owner);
    const both = await homeport.person(accountId, 'full');
    for (const site_id of [foreign, crypto.randomUUID()]) {
      expect(await create({ site_id })).toMatchObject(NO_SITE);
      expect(await create({ site_id }, both.client)).toMatchObject(NO_SITE);
    }
  });

  it('refuses accounts of others like missing ones, and partial users', async () => {
    const other = await homeport.ownedAccount();
    const { name } = await homeport.install(other.owner, other.accountId);
    for (const account_id of [other.accountId, crypto.randomUUID()]) {
      const refused = refusal(
        'Installation.account_id',
        'access_error / not_permitted',
        'You have no access to this account',
      );
      expect(await create({ account_id })).toMatchObject(refused);
      // The answer does not reveal which names exist.
      expect(await create({ account_id, name })).toMatchObject(refused);
    }
    const partial = await homeport.person(accountId, 'partial');
    expect(await create({}, partial.client)).toMatchObject(FORBIDDEN);
    const full = await homeport.person(accountId, 'full');
    expect(await create({ account_id: accountId.toUpperCase() }, full.client)).toMatchObject({
      status: 201,
      body: { account: { id: accountId } },
    });
  });
});

describe('GET /installs', () => {
  it('lists visible installs, oldest first, in pages, and for one account', async () => {
    const one = await homeport.ownedAccount();
    const other = await homeport.ownedAccount();
    const made = [];
    for (const account of [one, other, one, one]) {
      made.push(await homeport.install(account.owner, account.accountId));
    }
    const [first, foreign, second, third] = made;
    const list = (person: Person, query = '') => person.client.get(`/installs${query}`);
    expect((await list(one.owner)).body).toMatchObject({
      previous: null,
      next: null,
      count: 3,
      results: [first, second, third],
    });
    const address = `${homeport.origin}/v1/installs?account_id=${one.accountId}`;
    expect((await list(one.owner, `?account_id=${one.accountId}&limit=1&offset=1`)).body).toMatchObject({
      previous: `${address}&limit=1&offset=0`,
      next: `${address}&limit=1&offset=2`,
      count: 3,
      results: [second],
    });
    for (const id of [other.accountId, crypto.randomUUID()]) {
      expect((await list(one.owner, `?account_id=${id}`)).body).toMatchObject({ count: 0, results: [] });
    }
    expect((await list(one.owner, `?account_id=${one.accountId.toUpperCase()}`)).body).toMatchObject({
      count: 3,
    });
    expect(await list(one.owner, '?account_id=x')).toMatchObject({
      status: 400,
      body: { message: 'Invalid account ID format' },
    });
    expect((await list(one.owner, '?limit=x')).status).toBe(400);

    const partial = await homeport.person(one.accountId, 'partial', [third?.id ?? '', first?.id ?? '']);
    expect((await list(partial)).body).toMatchObject({ count: 2, results: [first, third] });
    expect((await list(partial, '?offset=1')).body).toMatchObject({ count: 2, results: [third] });
    expect((await partial.client.get(`/installs/${first?.id}`)).status).toBe(200);
    for (const id of [second?.id, foreign?.id, crypto.randomUUID(), 'x']) {
      expect(await partial.client.get(`/installs/${id}`)).toMatchObject(NOT_FOUND);
    }
  });
});

describe('PATCH /installs/{install_id}', () => {
  const change = (id: string, body: object, client = owner.client) => client.patch(`/installs/${id}`, body);

  it('moves between sites and environments, and out of them', async () => {
    const [from, to] = [await newSite(), await newSite()];
    const created = await create({ site_id: from, environment: 'staging' });
    const id = text(created.body, 'id');
    const installsOf = async (site: string) =>
      field((await owner.client.get(`/sites/${site}`)).body, 'installs');
    expect(await change(id, { site_id: to, environment: 'production' })).toMatchObject({
      status: 200,
      body: { id, site: { id: to }, environment: 'production' },
    });
    expect(await installsOf(from)).toEqual([]);
    expect(await installsOf(to)).toMatchObject([{ id, environment: 'production' }]);
    expect((await change(id, { environment: 'development' })).body).toMatchObject({
      site: { id: to },
      environment: 'development',
    });
    expect((await change(id, { site_id: from.toUpperCase() })).body).toMatchObject({
      site: { id: from },
      environment: 'development',
    });
    // Environments are slots of a site.
    expect((await change(id, { site_id: null })).body).toMatchObject({
      site: null,
      environment: null,
    });
    expect(await installsOf(from)).toEqual([]);
  });

  it('refuses a PHP version on a host without PHP, and null', async () => {
    const id = text((await create({})).body, 'id');
    await homeport.idle();
    expect(await change(id, { php_version: '8.4' })).toMatchObject(
      refusal(
        'Installation.php_version',
        'value_unavailable / capability_unavailable',
        'This website consists of files, without PHP. Use a platform with a Linux host, which offers it.',
        'This website consists of files, without PHP. Use a platform with a Linux host, which offers it.',
      ),
    );
    for (const php_version of [null, '8', 8.4]) {
      expect(await change(id, { php_version })).toMatchObject({
        status: 400,
        body: { errors: [{ field: 'php_version' }] },
      });
    }
  });

  it('changes neither the name nor omitted fields', async () => {
    const created = await create({ site_id: await newSite(), environment: 'staging' });
    const id = text(created.body, 'id');
    await homeport.idle();
    const before = await read(id);
    expect((await change(id, {})).body).toEqual(before);
    expect((await change(id, { name: 'another', account_id: crypto.randomUUID() })).body).toEqual(before);
  });

  it('refuses taken slots and sites of other accounts', async () => {
    const [from, to] = [await newSite(), await newSite()];
    await create({ site_id: to, environment: 'production' });
    await create({ site_id: from, environment: 'staging' });
    const id = text((await create({ site_id: from, environment: 'production' })).body, 'id');
    const taken = (sentence: string) =>
      refusal('Installation.environment', 'value_unavailable / taken', sentence);
    expect(await change(id, { site_id: to })).toMatchObject(
      taken('The site already has an install in its production environment'),
    );
    expect(await change(id, { environment: 'staging' })).toMatchObject(
      taken('The site already has an install in its staging environment'),
    );
    const other = await homeport.ownedAccount();
    for (const site_id of [await newSite(other.accountId, other.owner), crypto.randomUUID()]) {
      expect(await change(id, { site_id })).toMatchObject(NO_SITE);
    }
    const wrong = await change(id, { site_id: 'x', environment: 'live' });
    expect(field(wrong.body, 'errors')).toMatchObject([
      { field: 'site_id', code: 'invalid_format' },
      { field: 'environment', code: 'not_allowed' },
    ]);
    expect(await read(id)).toMatchObject({ site: { id: from }, environment: 'production' });
  });

  it('answers 403 for hidden installs and to partial users', async () => {
    const other = await homeport.ownedAccount();
    const hidden = await homeport.install(other.owner, other.accountId);
    for (const id of [hidden.id, crypto.randomUUID()]) {
      expect(await change(id, { environment: 'staging' })).toMatchObject(FORBIDDEN);
    }
    const mine = text((await create()).body, 'id');
    const partial = await homeport.person(accountId, 'partial', [mine]);
    expect(await change(mine, { environment: 'staging' }, partial.client)).toMatchObject(FORBIDDEN);
    expect(await change('x', {})).toMatchObject({
      status: 400,
      body: { message: 'Invalid install ID format' },
    });
  });
});

describe('the runtime of a new install', () => {
  const asked = async (runtime: unknown) => {
    const { body, status } = await create({ runtime });
    return { status, body };
  };

  it('is files by default, and WordPress only if the host runs it', async () => {
    expect(await asked('static')).toMatchObject({
      status: 201,
      body: { php_version: null, wp_version: null },
    });
    expect((await asked('wordpress')).body).toMatchObject({
      errors: [
        { field: 'runtime', code: 'not_offered', message: 'The embedded host serves static websites only' },
      ],
    });
    expect((await asked('php')).body).toMatchObject({ errors: [{ field: 'runtime' }] });
  });
});
