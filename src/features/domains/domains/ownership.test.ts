import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { overlapping } from '../../../../test/held-jobs.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { domainOwnership } from '../../../database/migrations/0016-domain-ownership.ts';
import { POSTGRES_TYPES, SQLITE_TYPES } from '../../../database/migrations/column-types.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { type ChallengeDns, startChallengeDns } from './challenge-dns.fixture.ts';
import { domainCalls, domainsOf, fault, type Install } from './domains.fixture.ts';
import { verificationSchedule } from './ownership-job-kinds.ts';

let dns: ChallengeDns;
let clock: ManualClock;
let homeport: TestHomeport;

beforeAll(async () => {
  dns = await startChallengeDns();
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, environment: { HOMEPORT_RESOLVERS: dns.address } });
});
afterAll(async () => {
  await homeport?.remove();
  await dns?.close();
});

/** An account with an owner, and what the owner does with domains. */
interface Party extends ReturnType<typeof domainCalls> {
  accountId: string;
  owner: Person;
  install: Install;
  newInstall(): Promise<Install>;
  /** Sets the TXT record that the domain asks for. */
  addRecord(domainId: string): Promise<void>;
  verify(domainId: string): Promise<unknown>;
  /** Both. */
  prove(domainId: string): Promise<void>;
}

async function party(): Promise<Party> {
  const { accountId, owner } = await homeport.ownedAccount();
  const newInstall = () => homeport.install(owner, accountId);
  const install = await newInstall();
  const calls = domainCalls(() => owner.client);
  const addRecord = async (domainId: string) => {
    const domain = await calls.read(install, domainId);
    const key = text(domain, 'txt_verification_key');
    dns.texts.set(key, [...(dns.texts.get(key) ?? []), text(domain, 'txt_verification_value')]);
  };
  const verify = async (domainId: string) => {
    clock.advance(5_000);
    const answer = await owner.client.post(`${domainsOf(install)}/${domainId}/verification`);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    await homeport.idle();
    return answer.body;
  };
  const prove = async (domainId: string) => {
    await addRecord(domainId);
    expect(await verify(domainId)).toMatchObject({ txt_verified_time: expect.any(String) });
  };
  return { ...calls, accountId, owner, install, newInstall, addRecord, verify, prove };
}

let counter = 0;
/** A registrable domain of a test's own. */
function registrable(): string {
  counter += 1;
  return `victim${counter}.example`;
}

let alice: Party;
let bob: Party;
beforeEach(async () => {
  [alice, bob] = [await party(), await party()];
});

/** Whose website answers to a name; null for none. */
async function servedBy(name: string): Promise<Party | null> {
  await homeport.idle();
  const { status, body } = await visit(homeport, `http://${name}/`);
  if (status === 404) return null;
  for (const one of [alice, bob]) if (body.includes(one.install.name)) return one;
  throw new Error(`${name} answers ${status} ${body}`);
}

async function removed({ remove, install }: Party, id: string): Promise<void> {
  expect((await remove(install, id)).status).toBe(204);
}

const WITHHELD = {
  ownership_status: 'TXT_VERIFICATION_PENDING',
  txt_verified_time: null,
  primary: false,
  network_details: { network_info: { status: 'PENDING', ssl: { status: 'pending' } } },
};

const actionsIn = async ({ accountId }: Party) =>
  (
    await homeport.platform.database.reader
      .selectFrom('activity')
      .select(['action', 'subject_name', 'means'])
      .where('account_id', '=', accountId)
      .orderBy('seq')
      .execute()
  ).filter(({ action }) => ['domain.verify', 'domain.lose'].includes(action));

describe('a name that another account has', () => {
  it('is not served by a stranger when its holder deletes it', async () => {
    const name = registrable();
    const at = await alice.added(alice.install, name);
    const answer = await bob.add(bob.install, name);
    expect(answer).toMatchObject({ status: 201, body: { name, duplicate: true, ...WITHHELD } });
    expect(await servedBy(name)).toBe(alice);
    await removed(alice, at);
    expect(await servedBy(name)).toBeNull();
    expect(await bob.read(bob.install, text(answer.body, 'id'))).toMatchObject({
      duplicate: false,
      ...WITHHELD,
    });

    await bob.prove(text(answer.body, 'id'));
    expect(await servedBy(name)).toBe(bob);
  });

  it.each(['install', 'site'])('is not served by a stranger when the %s of its holder goes', async (what) => {
    const { owner, accountId } = alice;
    const site = text((await owner.client.post('/sites', { name: 'S', account_id: accountId })).body, 'id');
    const install = await homeport.install(owner, accountId, { site_id: site });
    const name = registrable();
    await alice.added(install, name);
    await bob.added(bob.install, name);
    await owner.client.delete(what === 'site' ? `/sites/${site}` : `/installs/${install.id}`);
    expect(await servedBy(name)).toBeNull();
  });

  it('goes to the other install of the same account, past the stranger who waited for longer', async () => {
    const name = registrable();
    const at = await alice.added(alice.install, name);
    await bob.added(bob.install, name);
    const twin = await alice.newInstall();
    const next = await alice.added(twin, name);
    await removed(alice, at);
    await homeport.idle();
    expect(await alice.read(twin, next)).toMatchObject({
      duplicate: false,
      network_details: { network_info: { status: 'ACTIVE' } },
    });
  });

  it.each([
    ['a name below it', (base: string) => base, (base: string) => `shop.${base}`],
    ['a deep name below it', (base: string) => base, (base: string) => `a.b.c.shop.${base}`],
    ['a wildcard of it', (base: string) => base, (base: string) => `*.${base}`],
    ['an exact name below its wildcard', (base: string) => `*.${base}`, (base: string) => `other.${base}`],
    ['the base of its wildcard', (base: string) => `*.${base}`, (base: string) => base],
    ['a wildcard over its exact name', (base: string) => `other.${base}`, (base: string) => `*.${base}`],
    [
      'the same in capitals with a final dot',
      (base: string) => base,
      (base: string) => `${base.toUpperCase()}.`,
    ],
  ])('needs proof: %s', async (_, held, wanted) => {
    const base = registrable();
    await alice.added(alice.install, held(base));
    const answer = await bob.add(bob.install, wanted(base));
    expect(answer).toMatchObject({ status: 201, body: { ...WITHHELD, txt_verified_domain: base } });
    await bob.prove(text(answer.body, 'id'));
    expect(await bob.read(bob.install, text(answer.body, 'id'))).toMatchObject({
      ownership_status: 'TXT_VERIFIED',
      network_details: { network_info: { status: 'ACTIVE' } },
    });
  });

  it('needs no proof beside it, nor above an exact name', async () => {
    const base = registrable();
    await alice.added(alice.install, `shop.${base}`);
    await bob.added(bob.install, `blog.${base}`);
    await bob.added(bob.install, base);
    expect(await servedBy(`blog.${base}`)).toBe(bob);
    expect(await servedBy(base)).toBe(bob);
    expect(await servedBy(`shop.${base}`)).toBe(alice);
  });

  it('needs proof for 30 days after it was given up', async () => {
    const [name, later] = [registrable(), registrable()];
    await removed(alice, await alice.added(alice.install, name));
    await removed(alice, await alice.added(alice.install, later));
    clock.advance(30 * DAY_MS - HOUR_MS);
    const early = await bob.add(bob.install, `www.${name}`);
    expect(early).toMatchObject({ status: 201, body: { duplicate: false, ...WITHHELD } });
    expect(await servedBy(`www.${name}`)).toBeNull();
    clock.advance(2 * HOUR_MS);
    await bob.added(bob.install, later);
    expect(await servedBy(later)).toBe(bob);
  });

  it('is given back to the account that gave it up, without proof', async () => {
    const name = registrable();
    await removed(alice, await alice.added(alice.install, name));
    await bob.added(bob.install, name);
    await alice.added(alice.install, name);
    expect(await servedBy(name)).toBe(alice);
  });

  it('cannot be primary before it is proved', async () => {
    const name = registrable();
    await removed(alice, await alice.added(alice.install, name));
    const refused = fault(
      'primary',
      'not_verified',
      `${name} is not verified yet; add its TXT record and verify it before you make it the primary domain`,
    );
    expect(await bob.add(bob.install, name, { primary: true })).toMatchObject(refused);
    const id = await bob.added(bob.install, name);
    expect(await bob.change(bob.install, id, { primary: true })).toMatchObject(refused);
  });
});

describe('an account that proves a domain', () => {
  it('takes its name from an account that has not, whose owners learn of it', async () => {
    const name = registrable();
    const squatted = await bob.added(bob.install, name, { primary: true });
    await homeport.idle();
    expect(await servedBy(name)).toBe(bob);
    const at = await alice.added(alice.install, name);
    await alice.addRecord(at);
    expect(await servedBy(name)).toBe(bob);
    const verified = await alice.verify(at);
    expect(verified).toEqual({
      id: at,
      name,
      txt_verified_time: clock.now().toISOString(),
      txt_verified_domain: name,
      txt_verification_key: `_homeport-challenge.${name}`,
      txt_verification_value: expect.stringMatching(/^homeport-verification=[\w-]{32}$/),
    });
    expect(await servedBy(name)).toBe(alice);
    expect(await alice.read(alice.install, at)).toMatchObject({
      duplicate: false,
      ownership_status: 'TXT_VERIFIED',
    });
    expect(await bob.read(bob.install, squatted)).toMatchObject({ duplicate: true, ...WITHHELD });
    expect((await bob.owner.client.get(`/installs/${bob.install.id}`)).body).toMatchObject({
      primary_domain: `${bob.install.name}.localhost`,
    });
    expect(await bob.owner.client.get(`${domainsOf(bob.install)}/${squatted}/ssl_certificate`)).toMatchObject(
      NOT_FOUND,
    );
    expect(await actionsIn(alice)).toEqual([{ action: 'domain.verify', subject_name: name, means: 'api' }]);
    expect(await actionsIn(bob)).toEqual([{ action: 'domain.lose', subject_name: name, means: 'platform' }]);
    const [mail, ...more] = mailsTo(homeport, bob.owner.email);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({
      subject: `${name} is no longer served by your install ${bob.install.name}`,
    });
    expect(mail?.text).toContain(`/installs/${bob.install.id}`);
    expect(mail?.text).not.toContain(alice.install.name);
    expect(mailsTo(homeport, alice.owner.email)).toEqual([]);
  });

  it('takes it as the primary domain of an install whose own name is redirected to it', async () => {
    const name = registrable();
    const squatted = await bob.added(bob.install, name, { primary: true });
    await bob.change(bob.install, await bob.defaultDomain(bob.install), { redirect_to: squatted });
    await alice.prove(await alice.added(alice.install, name));
    expect(await servedBy(name)).toBe(alice);
    expect(await servedBy(`${bob.install.name}.localhost`)).toBe(bob);
  });

  it('gets all names of the domain that it has, and those that it adds later', async () => {
    const base = registrable();
    for (const label of ['a', 'b', 'c']) await bob.added(bob.install, `${label}.${base}`);
    const at = await alice.added(alice.install, `a.${base}`);
    await alice.added(alice.install, `b.${base}`);
    await alice.prove(at);
    expect(await servedBy(`a.${base}`)).toBe(alice);
    expect(await servedBy(`b.${base}`)).toBe(alice);
    expect(await servedBy(`c.${base}`)).toBe(bob);
    await alice.added(alice.install, `c.${base}`);
    expect(await servedBy(`c.${base}`)).toBe(alice);
    const answer = await bob.add(bob.install, `new.${base}`);
    expect(answer).toMatchObject({ status: 201, body: WITHHELD });
  });

  it('takes nothing from another that has proved it too', async () => {
    const base = registrable();
    const first = await alice.added(alice.install, base);
    await alice.prove(first);
    const second = await bob.added(bob.install, base);
    await bob.prove(second);
    expect(await servedBy(base)).toBe(alice);
    await removed(alice, first);
    expect(await servedBy(base)).toBe(bob);
  });

  it('keeps it when the record goes, until another one proves it', async () => {
    const base = registrable();
    const first = await alice.added(alice.install, base);
    await alice.prove(first);
    dns.texts.delete(`_homeport-challenge.${base}`);
    expect(await alice.verify(first)).toMatchObject({ txt_verified_time: expect.any(String) });
    expect(await servedBy(base)).toBe(alice);
    await bob.prove(await bob.added(bob.install, base));
    expect(await servedBy(base)).toBe(bob);
    expect(await alice.read(alice.install, first)).toMatchObject({ duplicate: true, ...WITHHELD });
  });

  it('is recognised by its own value alone, among others and with quotes around', async () => {
    const base = registrable();
    const at = await alice.added(alice.install, base);
    const theirs = await bob.added(bob.install, base);
    const key = `_homeport-challenge.${base}`;
    const value = text(await alice.read(alice.install, at), 'txt_verification_value');
    expect(text(await bob.read(bob.install, theirs), 'txt_verification_value')).not.toBe(value);
    for (const wrong of [
      '',
      'x'.repeat(4_000),
      value.slice(0, -1),
      `${value}x`,
      value.toUpperCase(),
      `v=${value}`,
    ]) {
      dns.texts.set(key, [wrong]);
      expect(await alice.verify(at)).toMatchObject({ txt_verified_time: null });
      expect(await bob.verify(theirs)).toMatchObject({ txt_verified_time: null });
    }
    dns.texts.set(key, ['v=spf1 -all', `" ${value} "`, 'y'.repeat(2_000)]);
    expect(await bob.verify(theirs)).toMatchObject({ txt_verified_time: null });
    expect(await alice.verify(at)).toMatchObject({ txt_verified_time: expect.any(String) });
  });

  it('proves a name below a private suffix for itself, not for its neighbours', async () => {
    const at = await alice.added(alice.install, 'alice.github.io');
    expect(await alice.read(alice.install, at)).toMatchObject({ txt_verified_domain: 'alice.github.io' });
    const idn = await alice.added(alice.install, 'www.bücher.example');
    expect(await alice.read(alice.install, idn)).toMatchObject({
      txt_verified_domain: 'xn--bcher-kva.example',
      txt_verification_key: '_homeport-challenge.xn--bcher-kva.example',
    });
    // Cyrillic letters that look the same are another name.
    const homograph = await bob.added(bob.install, 'www.b\u00fc\u0441her.example');
    await homeport.idle();
    expect(await bob.read(bob.install, homograph)).toMatchObject({
      network_details: { network_info: { status: 'ACTIVE' } },
    });
  });
});

describe('the endpoint', () => {
  it('needs no record for the install’s own name', async () => {
    const cname = await alice.defaultDomain(alice.install);
    expect(await alice.read(alice.install, cname)).toMatchObject({
      ownership_status: 'TXT_VERIFIED',
      txt_verified_time: null,
      txt_verification_key: null,
      txt_verification_value: null,
    });
    expect(await alice.verify(cname)).toMatchObject({ id: cname, txt_verification_key: null });
  });

  it('is limited to once in 5 seconds for an install', async () => {
    const at = await alice.added(alice.install, registrable());
    await alice.verify(at);
    const again = await alice.owner.client.post(`${domainsOf(alice.install)}/${at}/verification`);
    expect(again).toMatchObject({
      status: 429,
      body: {
        message: 'Domain verifications are rate-limited to one request every 5 seconds for each install',
      },
    });
  });

  it('asks no DNS once the domain is proved, nor for a stranger', async () => {
    const at = await alice.added(alice.install, registrable());
    await alice.prove(at);
    const key = text(await alice.read(alice.install, at), 'txt_verification_key');
    const asked = dns.asked(key);
    await alice.verify(at);
    clock.advance(5_000);
    expect(await bob.owner.client.post(`${domainsOf(alice.install)}/${at}/verification`)).toMatchObject(
      NOT_FOUND,
    );
    expect(dns.asked(key)).toBe(asked);
  });

  it('gives the domains of an older version a record when it is asked', async () => {
    const base = registrable();
    const at = await alice.added(alice.install, base);
    await homeport.platform.database.write(({ queries }) =>
      queries.deleteFrom('domain_proofs').where('registrable', '=', base).execute(),
    );
    expect(await alice.read(alice.install, at)).toMatchObject({
      ownership_status: 'TXT_VERIFICATION_PENDING',
      txt_verification_key: null,
      txt_verification_value: null,
    });
    expect(await alice.verify(at)).toMatchObject({ txt_verification_key: `_homeport-challenge.${base}` });
  });
});

describe('the platform', () => {
  /** What happens in one minute. */
  async function minute(): Promise<void> {
    const { platform } = homeport;
    clock.advance(60_000);
    await platform.database.write((transaction) =>
      verificationSchedule(platform).enqueue(transaction, platform.queue),
    );
    await homeport.idle();
  }

  it('looks for a record itself, less often as time passes, and forgets what has no domain', async () => {
    // Those of the tests before are out of the way.
    await homeport.platform.database.write(({ queries }) => queries.deleteFrom('domain_proofs').execute());
    const [base, gone] = [registrable(), registrable()];
    await bob.added(bob.install, base);
    const at = await alice.added(alice.install, base);
    await removed(alice, await alice.added(alice.install, gone));
    const key = `_homeport-challenge.${base}`;
    await minute();
    expect(dns.asked(key)).toBe(0);
    await minute();
    expect(dns.asked(key)).toBe(2);
    clock.advance(8 * HOUR_MS);
    await minute();
    expect(dns.asked(key)).toBe(4);
    for (let passed = 0; passed < 50; passed++) await minute();
    expect(dns.asked(key)).toBe(4);
    clock.advance(15 * 60_000);
    await alice.addRecord(at);
    await minute();
    expect(await alice.read(alice.install, at)).toMatchObject({ ownership_status: 'TXT_VERIFIED' });
    expect(await servedBy(base)).toBe(alice);
    expect(await actionsIn(alice)).toMatchObject([{ action: 'domain.verify', means: 'platform' }]);
    const rows = await homeport.platform.database.reader
      .selectFrom('domain_proofs')
      .select('registrable')
      .where('registrable', '=', gone)
      .execute();
    expect(rows).toEqual([]);
  });

  it('says in a status report which record to add', async () => {
    const name = registrable();
    await alice.added(alice.install, name);
    const at = await bob.added(bob.install, name);
    const { client } = bob.owner;
    clock.advance(5_000);
    const asked = await client.post(`${domainsOf(bob.install)}/${at}/check_status`);
    await homeport.idle();
    const report = await client.get(
      `${domainsOf(bob.install)}/check_status/${text(asked.body, 'report_id')}`,
    );
    const value = text(await bob.read(bob.install, at), 'txt_verification_value');
    expect(field(report.body, 'report', 'domains', 0, 'result')).toBe(
      `${name} is not served until you verify it: add a TXT record with the name _homeport-challenge.${name} and the value ${value}, then verify the domain.`,
    );
  });
});

describe('at the same time', () => {
  /** Who serves a name, by the database. */
  const servingOf = async (name: string) =>
    homeport.platform.database.reader
      .selectFrom('domains')
      .innerJoin('installs', 'installs.id', 'domains.install_id')
      .select('installs.account_id')
      .where('domains.name', '=', name)
      .where('domains.is_duplicate', '=', false)
      .execute();

  it('two accounts that add a name: one serves it, the other has to prove it', async () => {
    for (let round = 0; round < 5; round++) {
      const name = registrable();
      const answers = await Promise.all([
        alice.add(alice.install, name),
        bob.add(bob.install, `www.${name}`),
        bob.add(bob.install, name),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
      expect(answers.filter(({ body }) => field(body, 'duplicate') === true)).toHaveLength(1);
      expect(await servingOf(name)).toHaveLength(1);
    }
  });

  it('two accounts that both prove a name: one serves it, and both have proved it', async () => {
    const name = registrable();
    const ids = [await alice.added(alice.install, name), await bob.added(bob.install, name)];
    await alice.addRecord(ids[0] ?? '');
    await bob.addRecord(ids[1] ?? '');
    clock.advance(5_000);
    await Promise.all([
      alice.owner.client.post(`${domainsOf(alice.install)}/${ids[0]}/verification`),
      bob.owner.client.post(`${domainsOf(bob.install)}/${ids[1]}/verification`),
    ]);
    expect(await servingOf(name)).toHaveLength(1);
    expect(await alice.read(alice.install, ids[0] ?? '')).toMatchObject({ ownership_status: 'TXT_VERIFIED' });
    expect(await bob.read(bob.install, ids[1] ?? '')).toMatchObject({ ownership_status: 'TXT_VERIFIED' });
  });

  it('a name that is proved while its holder deletes it, or adds it again', async () => {
    for (let round = 0; round < 5; round++) {
      const name = registrable();
      const at = await bob.added(bob.install, name);
      const ours = await alice.added(alice.install, name);
      await alice.addRecord(ours);
      clock.advance(5_000);
      const twin = await bob.newInstall();
      const [verified, deleted, again] = await Promise.all([
        alice.owner.client.post(`${domainsOf(alice.install)}/${ours}/verification`),
        bob.remove(bob.install, at),
        bob.add(twin, name),
      ]);
      expect([verified?.status, deleted?.status, again?.status]).toEqual([200, 204, 201]);
      expect(await servingOf(name)).toEqual([{ account_id: alice.accountId }]);
    }
  });

  onlyOn('postgres', describe)('as far as transactions can overlap', () => {
    it.each(['deleted', 'added'])(
      'a name that is given up while a stranger adds it needs proof (%s first)',
      async (first) => {
        const name = registrable();
        const at = await alice.added(alice.install, name);
        await homeport.idle();
        const requests = [() => alice.remove(alice.install, at), () => bob.add(bob.install, name)];
        await overlapping(homeport, first === 'deleted' ? requests : requests.reverse());
        expect(await servingOf(name)).toEqual([]);
      },
    );
  });
});

it('after an upgrade, what is served stays, and strangers who waited need proof', async () => {
  const name = registrable();
  const at = await alice.added(alice.install, name);
  const stranger = await bob.added(bob.install, name);
  const twin = await alice.newInstall();
  const next = await alice.added(twin, name);
  const { database } = homeport.platform;
  const types = database.dialect === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES;
  const [, update = ''] = domainOwnership(types);
  await database.write(async ({ queries }) => {
    // As an older version left it.
    await queries.updateTable('domains').set({ needs_proof: false }).where('name', '=', name).execute();
    await sql.raw(update).execute(queries);
  });
  expect(await servedBy(name)).toBe(alice);
  await removed(alice, at);
  await homeport.idle();
  expect(await alice.read(twin, next)).toMatchObject({
    network_details: { network_info: { status: 'ACTIVE' } },
  });
  await removed({ ...alice, install: twin }, next);
  expect(await bob.read(bob.install, stranger)).toMatchObject(WITHHELD);
});

describe('where every account has to prove its domains', () => {
  let strict: TestHomeport;
  let owner: Person;
  let accountId: string;

  beforeAll(async () => {
    strict = await startTestHomeport({
      environment: { HOMEPORT_RESOLVERS: dns.address, HOMEPORT_DOMAIN_OWNERSHIP: 'required' },
    });
    ({ owner, accountId } = await strict.ownedAccount());
  });
  afterAll(() => strict?.remove());
  const calls = domainCalls(() => owner.client);

  it('a new domain is served once it is proved, and all names of it from then on', async () => {
    const install = await strict.install(owner, accountId);
    const base = registrable();
    const at = await calls.added(install, base);
    await strict.idle();
    const visited = async (name: string) => (await visit(strict, `http://${name}/`)).status;
    expect(await visited(base)).toBe(404);
    expect(await calls.read(install, at)).toMatchObject({ duplicate: false, ...WITHHELD });
    const value = text(await calls.read(install, at), 'txt_verification_value');
    dns.texts.set(`_homeport-challenge.${base}`, [value]);
    expect((await owner.client.post(`${domainsOf(install)}/${at}/verification`)).status).toBe(200);
    await calls.added(await strict.install(owner, accountId), `www.${base}`);
    await strict.idle();
    expect([await visited(base), await visited(`www.${base}`)]).toEqual([200, 200]);
  });

  it('what was served before stays, in other installs of the account too', async () => {
    const [install, twin] = [await strict.install(owner, accountId), await strict.install(owner, accountId)];
    const base = registrable();
    const at = await calls.added(install, base);
    // As the setting before it left it.
    await strict.platform.database.write(({ queries }) =>
      queries
        .updateTable('domains')
        .set({ needs_proof: false, is_duplicate: false })
        .where('id', '=', at)
        .execute(),
    );
    const next = await calls.added(twin, base);
    expect((await calls.remove(install, at)).status).toBe(204);
    await strict.idle();
    expect(await calls.read(twin, next)).toMatchObject({
      network_details: { network_info: { status: 'ACTIVE' } },
    });
  });
});
