import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../../../../test/client.ts';
import { overlapping } from '../../../../test/held-jobs.ts';
import { mostlyOn, onlyOn } from '../../../../test/only-on.ts';
import { rounds } from '../../../../test/rounds.ts';
import { domainsOf } from './domains.fixture.ts';
import { type OwnershipSetup, type Party, registrable, startOwnership } from './ownership.fixture.ts';

let setup: OwnershipSetup;
let alice: Party;
let bob: Party;
beforeAll(async () => {
  setup = await startOwnership();
  [alice, bob] = [await setup.party(), await setup.party()];
});
afterAll(() => setup?.remove());

describe('at the same time', () => {
  /** The accounts that serve a name, as the database has it. */
  const servingOf = async (name: string) =>
    setup.homeport.platform.database.reader
      .selectFrom('domains')
      .innerJoin('installs', 'installs.id', 'domains.install_id')
      .select('installs.account_id')
      .where('domains.name', '=', name)
      .where('domains.is_duplicate', '=', false)
      .execute();

  it('two accounts that add a name: one serves it, the other has to prove it', async () => {
    for (let round = 0; round < rounds(2, 5); round++) {
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
    setup.clock.advance(5_000);
    await Promise.all([
      alice.owner.client.post(`${domainsOf(alice.install)}/${ids[0]}/verification`),
      bob.owner.client.post(`${domainsOf(bob.install)}/${ids[1]}/verification`),
    ]);
    expect(await servingOf(name)).toHaveLength(1);
    expect(await alice.read(alice.install, ids[0] ?? '')).toMatchObject({ ownership_status: 'TXT_VERIFIED' });
    expect(await bob.read(bob.install, ids[1] ?? '')).toMatchObject({ ownership_status: 'TXT_VERIFIED' });
  });

  mostlyOn('sqlite', it)('a name that is proved while its holder deletes it, or adds it again', async () => {
    const twin = await bob.newInstall();
    for (let round = 0; round < 5; round++) {
      const name = registrable();
      const at = await bob.added(bob.install, name);
      const ours = await alice.added(alice.install, name);
      await alice.addRecord(ours);
      setup.clock.advance(5_000);
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
        await setup.homeport.idle();
        const requests = [() => alice.remove(alice.install, at), () => bob.add(bob.install, name)];
        await overlapping(setup.homeport, first === 'deleted' ? requests : requests.reverse());
        expect(await servingOf(name)).toEqual([]);
      },
    );
  });
});
