import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { refusal } from '../../../../test/refusal.ts';
import { domainCalls, domainName, fault, type Install } from './domains.fixture.ts';

let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const newInstall = () => homeport.install(owner, accountId);
const { add, added, change, defaultDomain, list, remove } = domainCalls(() => owner.client);

describe('the primary domain', () => {
  const primaryOf = async (install: Install) =>
    field((await owner.client.get(`/installs/${install.id}`)).body, 'primary_domain');

  it('is unique, and moves to a domain that is made primary', async () => {
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
    const cname = await defaultDomain(install);
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
    const target = await defaultDomain(install);
    expect(await add(install, name, { primary: true, redirect_to: target })).toMatchObject(redirected);
    const id = await added(install, name, { redirect_to: target });
    expect(await change(install, id, { primary: true })).toMatchObject(redirected);
    expect(await change(install, id, { primary: true, redirect_to: null })).toMatchObject({
      status: 200,
      body: { primary: true, redirects_to: [] },
    });
  });

  it('is the default domain at first, which can never be deleted', async () => {
    const install = await newInstall();
    const id = await defaultDomain(install);
    const own = fault(
      'id',
      'cname',
      `${install.name}.localhost is the install's default domain and cannot be deleted`,
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
    expect(answer).toMatchObject({
      status: 201,
      body: { redirect_to: { id: target, name: to }, redirects_to: [{ id: target, name: to }] },
    });
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
    const cname = await defaultDomain(install);
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
    const id = await added(install, name, { redirect_to: await defaultDomain(install) });
    expect(await change(install, id, { redirect_to: nothing })).toMatchObject({
      status: 200,
      body: { redirect_to: null, redirects_to: [] },
    });
    await homeport.idle();
    expect((await visit(homeport, `http://${name}/`)).status).toBe(200);
    // Without a redirect, nothing changes.
    expect((await change(install, id, { redirect_to: nothing })).status).toBe(200);
    expect((await add(install, domainName(), { redirect_to: nothing })).body).toMatchObject({
      redirects_to: [],
    });
  });

  it('lead to another domain of the same install that is neither a redirect nor a wildcard', async () => {
    const [install, other] = [await newInstall(), await newInstall()];
    const [one, two, three] = [domainName(), domainName(), domainName()];
    const elsewhere = refusal(
      'Domain.redirect_to',
      'access_error / not_permitted',
      'redirect_to must be a domain of the same install',
    );
    const foreign = await defaultDomain(other);
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
      const id = await defaultDomain(install);
      expect(await change(install, id, { redirect_to }), redirect_to).toMatchObject(malformed);
    }
    expect(await list(install)).toHaveLength(1);

    const cname = await defaultDomain(install);
    const redirected = await added(install, one, { redirect_to: cname });
    expect(await add(install, two, { redirect_to: redirected })).toMatchObject(
      fault('redirect_to', 'redirect_to_redirect', `${one} is itself redirected; choose its target instead`),
    );
    const wild = await added(install, `*.${two}`);
    expect(await add(install, two, { redirect_to: wild })).toMatchObject(
      fault('redirect_to', 'wildcard', `*.${two} is a wildcard and cannot be redirected to`),
    );
    expect(await change(install, redirected, { redirect_to: redirected })).toMatchObject(
      fault('redirect_to', 'self', `${one} cannot be redirected to itself`),
    );
    expect(await change(install, redirected, { redirect_to: foreign })).toMatchObject(elsewhere);

    // A redirect target cannot be redirected.
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
  it('redirects HTTP to HTTPS, with path and query, until it is switched off', async () => {
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
    // One redirect, not two.
    expect((await visit(homeport, `http://${from}/a?b=c`)).headers.location).toBe(`https://${name}/a?b=c`);

    await change(install, id, { secure_all_urls: false });
    await homeport.idle();
    expect((await visit(homeport, `http://${name}/`)).status).toBe(200);
  });
});
