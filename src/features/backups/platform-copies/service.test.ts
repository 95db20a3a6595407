import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';

let homeport: TestHomeport;
let owner: Person;
let accountId: string;

beforeAll(async () => {
  // Nothing runs its jobs.
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport?.remove());

/** The jobs of a requested restore, in the order in which they run. */
async function jobsOf(isUnserved: boolean) {
  const install = await homeport.install(owner, accountId);
  const { database } = homeport.platform;
  await database.write(async ({ queries }) => {
    await queries.updateTable('installs').set({ status: 'active' }).where('id', '=', install.id).execute();
    await queries.deleteFrom('jobs').where('lane', '=', install.id).execute();
  });
  await homeport.services.platformCopies.request({
    installId: install.id,
    place: { destination: '/backups', credentials: null },
    platformBackup: 'homeport-20260101-000000-000',
    website: install,
    checkpoint: true,
    isUnserved,
  });
  return database.reader
    .selectFrom('jobs')
    .select(['kind', 'payload'])
    .where('lane', '=', install.id)
    .orderBy('seq')
    .execute();
}

it('makes a website that its host does not know again first, and makes no other again', async () => {
  expect(await jobsOf(true)).toMatchObject([
    { kind: 'apply_install', payload: { from_scratch: true } },
    { kind: 'adopt_website_copy', payload: { checkpoint_id: expect.any(String) } },
  ]);
  expect(await jobsOf(false)).toMatchObject([{ kind: 'adopt_website_copy' }]);
});
