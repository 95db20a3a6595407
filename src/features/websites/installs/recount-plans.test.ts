import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPlannedDatabase, plannedQueries } from '../../../database/planned-queries.fixture.ts';
import { recountAccount } from './recount-store.ts';

let planned: Awaited<ReturnType<typeof openPlannedDatabase>>;

beforeAll(async () => {
  planned = await openPlannedDatabase();
});
afterAll(() => planned?.remove());

/** How SQLite would run the statements of a recount. */
async function planOfRecount(): Promise<string[]> {
  const { queries, plan } = plannedQueries(planned.database);
  const commitWith = async () => {};
  await recountAccount(
    { write: (work) => work({ dialect: 'sqlite', queries, afterCommit() {}, commitWith }) },
    'a',
  );
  return plan;
}

it('a recount reads no rows of other accounts, because writes wait for it', async () => {
  const plan = await planOfRecount();
  expect(plan).toContainEqual(expect.stringMatching(/INDEX \w+ \(account_id=\?/));
  // `wrong` is the result of another step.
  expect(plan.filter((step) => /^SCAN (?!wrong$)/.test(step))).toEqual([]);
});
