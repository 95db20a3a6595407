import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { restorableSnapshots } from './restorable-store.ts';

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let install: { id: string };

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
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

test('a recovery point counts by its time, and covers what is known to be unchanged since', async () => {
  const { reader, write } = homeport.platform.database;
  const other = await homeport.install(owner, accountId);
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 3, minute)).toISOString();
  const content = { bytes: 1, files: 1, sha256: 'a'.repeat(64), wordpress_version: null };
  const [nightly, former, newest, deleted] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const point = (id: string, minute: number, deleting = false) => ({
    ...{ ...content, id, install_id: other.id, taken_at: at(minute), deleting },
  });
  await write(async ({ queries }) => {
    await queries
      .insertInto('backups')
      .values({
        ...{ ...content, id: nightly, install_id: other.id, description: '', notification_emails: '[]' },
        ...{ status: 'completed', reason: null, requested_by: null, created_at: at(10) },
        ...{ finished_at: at(10), verified_at: at(10) },
      })
      .execute();
    await queries
      .insertInto('recovery_points')
      .values([point(former, 5), point(newest, 15), point(deleted, 20, true)])
      .execute();
  });
  const seen = async () =>
    (await restorableSnapshots(reader, other.id)).map(({ id, covered_at }) => [id, covered_at]);
  expect(await seen()).toEqual([
    [newest, at(15)],
    [nightly, at(10)],
    [former, at(5)],
  ]);
  await write(({ queries }) =>
    queries
      .insertInto('recovery_states')
      .values({ install_id: other.id, covered_at: at(40), tried_at: at(15), pruned_at: at(15) })
      .execute(),
  );
  expect((await seen())[0]).toEqual([newest, at(40)]);
});
