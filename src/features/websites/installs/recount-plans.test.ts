import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DatabasePlace, migratedPlace } from '../../../../test/database.ts';
import { SQLITE_FILE } from '../../../database/open.ts';
import { plannedQueries } from '../../../database/planned-queries.fixture.ts';
import { recountAccount } from './recount-store.ts';

let place: DatabasePlace;
let database: Sqlite.Database;

beforeAll(async () => {
  place = await migratedPlace();
  database = new Sqlite(join(place.settings.dataDir, SQLITE_FILE), { readonly: true });
});
afterAll(async () => {
  database?.close();
  await place?.remove();
});

/** How SQLite would run the statements of a recount. */
async function planOfRecount(): Promise<string[]> {
  const { queries, plan } = plannedQueries(database);
  await recountAccount({ write: (work) => work({ dialect: 'sqlite', queries, afterCommit() {} }) }, 'a');
  return plan;
}

it('a recount reads no rows of other accounts, because writes wait for it', async () => {
  const plan = await planOfRecount();
  expect(plan).toContainEqual(expect.stringMatching(/INDEX \w+ \(account_id=\?/));
  // `wrong` is the result of another step.
  expect(plan.filter((step) => /^SCAN (?!wrong$)/.test(step))).toEqual([]);
});
