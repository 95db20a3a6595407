import { expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/database.ts';
import { storedRows } from '../../../test/stored-rows.ts';
import type { Transaction } from '../../database/database.ts';
import { storeLostData } from './lost-data-store.ts';

test('a machine that lost many websites holds up other work only for some of them at a time', async () => {
  const database = await openTestDatabase();
  const rows = storedRows(database);
  const account = await rows.account();
  const ids: string[] = [];
  for (let made = 0; made < 250; made++) ids.push(await rows.install(account));
  const lost = async () =>
    (await database.reader.selectFrom('installs').select('id').where('lost_data', 'is not', null).execute())
      .length;
  const counts: number[] = [];
  const { reader } = database;
  const write = async <Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> => {
    const result = await database.write(work);
    counts.push(await lost());
    return result;
  };

  expect(await storeLostData({ reader, write }, [], ids)).toEqual(ids);
  expect(counts).toEqual([100, 200, 250]);
  expect(await storeLostData({ reader, write }, [], ids)).toEqual([]);
  expect(counts).toHaveLength(3);
  const held = ids.map((id) => ({ id, name: null, hostnames: [], digest: null }));
  await storeLostData({ reader, write }, held, []);
  expect(await lost()).toBe(0);
  await database.remove();
});
