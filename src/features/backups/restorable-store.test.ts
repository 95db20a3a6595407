import { afterAll, beforeAll, expect, test } from 'vitest';
import { text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { restorableSnapshots } from './restorable-store.ts';

let homeport: TestHomeport;
let owner: Person;
let install: { id: string };

beforeAll(async () => {
  homeport = await startTestHomeport();
  const made = await homeport.ownedAccount();
  owner = made.owner;
  install = await homeport.install(owner, made.accountId);
});
afterAll(() => homeport?.remove());

async function backUp(): Promise<string> {
  const wanted = { description: 'one', notification_emails: [] };
  const { body } = await owner.client.post(`/installs/${install.id}/backups`, wanted);
  await homeport.idle();
  return text(body, 'id');
}

const found = async () =>
  (await restorableSnapshots(homeport.platform.database.reader, install.id)).map(({ id }) => id);

test('what a lost website is restored from: the newest verified snapshot first, without deleted ones', async () => {
  const [first, second, third] = [await backUp(), await backUp(), await backUp()];
  expect(await found()).toEqual([third, second, first]);
  const change = (values: object, id: string) =>
    homeport.platform.database.write(({ queries }) =>
      queries.updateTable('backups').set(values).where('id', '=', id).execute(),
    );
  await change({ verified_at: null }, third);
  expect(await found()).toEqual([second, first, third]);
  await change({ missing_since: '2026-01-01T00:00:00.000Z' }, second);
  expect(await found()).toEqual([second, first, third]);
  await change({ deleting: true }, second);
  expect(await found()).toEqual([first, third]);
});
