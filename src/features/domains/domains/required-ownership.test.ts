import { afterAll, beforeAll, expect, it } from 'vitest';
import { visit } from '../../../../test/edge.ts';
import {
  type OwnershipSetup,
  type Party,
  registrable,
  startOwnership,
  WITHHELD,
} from './ownership.fixture.ts';

let setup: OwnershipSetup;
let alice: Party;
beforeAll(async () => {
  setup = await startOwnership({ HOMEPORT_DOMAIN_OWNERSHIP: 'required' });
  alice = await setup.party();
});
afterAll(() => setup?.remove());

it('serves a new domain once it is proved, and all names of it from then on', async () => {
  const base = registrable();
  const at = await alice.added(alice.install, base);
  expect(await setup.servedBy(base)).toBeNull();
  expect(await alice.read(alice.install, at)).toMatchObject({ duplicate: false, ...WITHHELD });
  await alice.prove(at);
  await alice.added(await alice.newInstall(), `www.${base}`);
  await setup.homeport.idle();
  expect(await setup.servedBy(base)).toBe(alice);
  expect((await visit(setup.homeport, `http://www.${base}/`)).status).toBe(200);
});

it('keeps serving what it served before, in other installs of the account too', async () => {
  const twin = await alice.newInstall();
  const base = registrable();
  const at = await alice.added(alice.install, base);
  // As it was before the operator set HOMEPORT_DOMAIN_OWNERSHIP.
  await setup.homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('domains')
      .set({ needs_proof: false, is_duplicate: false })
      .where('id', '=', at)
      .execute(),
  );
  const next = await alice.added(twin, base);
  await alice.removed(at);
  await setup.homeport.idle();
  expect(await alice.read(twin, next)).toMatchObject({
    network_details: { network_info: { status: 'ACTIVE' } },
  });
});
