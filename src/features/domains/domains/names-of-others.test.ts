import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../../../../test/client.ts';
import { domainOwnership } from '../../../database/migrations/0016-domain-ownership.ts';
import { POSTGRES_TYPES, SQLITE_TYPES } from '../../../database/migrations/column-types.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { fault } from './domains.fixture.ts';
import {
  type OwnershipSetup,
  type Party,
  registrable,
  startOwnership,
  WITHHELD,
} from './ownership.fixture.ts';

let setup: OwnershipSetup;
let alice: Party;
let bob: Party;
beforeAll(async () => {
  setup = await startOwnership();
  [alice, bob] = [await setup.party(), await setup.party()];
});
afterAll(() => setup?.remove());

describe('a name that another account has', () => {
  it('is not served by a stranger when its holder deletes it', async () => {
    const name = registrable();
    const at = await alice.added(alice.install, name);
    const answer = await bob.add(bob.install, name);
    expect(answer).toMatchObject({ status: 201, body: { name, duplicate: true, ...WITHHELD } });
    expect(await setup.servedBy(name)).toBe(alice);
    await alice.removed(at);
    expect(await setup.servedBy(name)).toBeNull();
    expect(await bob.read(bob.install, text(answer.body, 'id'))).toMatchObject({
      duplicate: false,
      ...WITHHELD,
    });

    await bob.prove(text(answer.body, 'id'));
    expect(await setup.servedBy(name)).toBe(bob);
  });

  it.each(['install', 'site'])('is not served by a stranger when the %s of its holder goes', async (what) => {
    const { owner, accountId } = alice;
    const site = text((await owner.client.post('/sites', { name: 'S', account_id: accountId })).body, 'id');
    const install = await setup.homeport.install(owner, accountId, { site_id: site });
    const name = registrable();
    await alice.added(install, name);
    await bob.added(bob.install, name);
    await owner.client.delete(what === 'site' ? `/sites/${site}` : `/installs/${install.id}`);
    expect(await setup.servedBy(name)).toBeNull();
  });

  it('goes to the other install of the same account, past the stranger who waited for longer', async () => {
    const name = registrable();
    const at = await alice.added(alice.install, name);
    await bob.added(bob.install, name);
    const twin = await alice.newInstall();
    const next = await alice.added(twin, name);
    await alice.removed(at);
    await setup.homeport.idle();
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
    expect(await setup.servedBy(`blog.${base}`)).toBe(bob);
    expect(await setup.servedBy(base)).toBe(bob);
    expect(await setup.servedBy(`shop.${base}`)).toBe(alice);
  });

  it('needs proof for 30 days after it was given up', async () => {
    const [name, later] = [registrable(), registrable()];
    await alice.removed(await alice.added(alice.install, name));
    await alice.removed(await alice.added(alice.install, later));
    setup.clock.advance(30 * DAY_MS - HOUR_MS);
    const early = await bob.add(bob.install, `www.${name}`);
    expect(early).toMatchObject({ status: 201, body: { duplicate: false, ...WITHHELD } });
    expect(await setup.servedBy(`www.${name}`)).toBeNull();
    setup.clock.advance(2 * HOUR_MS);
    await bob.added(bob.install, later);
    expect(await setup.servedBy(later)).toBe(bob);
  });

  it('is given back to the account that gave it up, without proof', async () => {
    const name = registrable();
    await alice.removed(await alice.added(alice.install, name));
    await bob.added(bob.install, name);
    await alice.added(alice.install, name);
    expect(await setup.servedBy(name)).toBe(alice);
  });

  it('cannot be primary before it is proved', async () => {
    const name = registrable();
    await alice.removed(await alice.added(alice.install, name));
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

it('after an upgrade, what is served stays, and strangers who waited need proof', async () => {
  const name = registrable();
  const at = await alice.added(alice.install, name);
  const stranger = await bob.added(bob.install, name);
  const twin = await alice.newInstall();
  const next = await alice.added(twin, name);
  const { database } = setup.homeport.platform;
  const types = database.dialect === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES;
  const [, update = ''] = domainOwnership(types);
  await database.write(async ({ queries }) => {
    // As an older version left it.
    await queries.updateTable('domains').set({ needs_proof: false }).where('name', '=', name).execute();
    await sql.raw(update).execute(queries);
  });
  expect(await setup.servedBy(name)).toBe(alice);
  await alice.removed(at);
  await setup.homeport.idle();
  expect(await alice.read(twin, next)).toMatchObject({
    network_details: { network_info: { status: 'ACTIVE' } },
  });
  expect((await alice.remove(twin, next)).status).toBe(204);
  expect(await bob.read(bob.install, stranger)).toMatchObject(WITHHELD);
});
