import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { type WatchedStatements, watchStatements } from '../database/postgres-plans.fixture.ts';
import { everyList, GROWING, IN_PARTS, REFUSED } from './every-list.fixture.ts';
import { fillAccount, generatedId } from './large-account.fixture.ts';

// Runs every list with every filter and every order of its route, in one of two large accounts. Then explains each of its queries, to see how
// many rows PostgreSQL reads for it. The planner has statistics of these rows.

/** More than the portal sorts and searches as a whole. */
const INSTALLS = 11_000;
/** Of one query for a page of 100: as many as the root of all installs times the page, and their sites, domains and the like. */
const MOST_ROWS = 2_500;

/** Read much by design, in queries that are limited. */
const LIMITED: Record<string, string> = {
  search: 'looks at the newest 10,000 installs',
  'listInstallsOfAccount?environment': 'sorts up to 10,000 installs by the numbers in their names',
  listMatchingInstalls: 'answers 10,000 installs at most',
  listOperations: 'counts 10,000 at most',
  listActivity: 'counts 10,000 at most',
  listAccountIncidents: 'counts 10,000 at most',
  getOnboarding: 'looks for the first of its things, which can come after those of another account',
};

const KNOWN = { ...GROWING, ...LIMITED, ...IN_PARTS };

let homeport: TestHomeport;
let owner: Person;
let ids: Record<string, string>;
let statements: WatchedStatements;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  // The rows of the second account come after all those of the first.
  for (const series of ['11', '12']) {
    const { accountId, owner: member } = await homeport.ownedAccount();
    const account = { accountId, userId: member.userId, installs: INSTALLS, series };
    await fillAccount(homeport.platform.database, account);
    owner = member;
    ids = {
      ...{ account_id: accountId, user_id: member.userId },
      ...{ site_id: generatedId(series, 'a', 7), install_id: generatedId(series, 'b', 7) },
    };
  }
  const webhook_id = crypto.randomUUID();
  const created_at = new Date().toISOString();
  await homeport.platform.database.write(({ queries }) =>
    queries
      .insertInto('webhooks')
      .values({
        ...{
          id: webhook_id,
          account_id: ids.account_id ?? '',
          url: 'https://hooks.example',
          description: '',
        },
        ...{ event_types: null, install_ids: null, sealed_secret: 'a', updated_at: created_at, created_at },
      })
      .execute(),
  );
  ids = { ...ids, webhook_id };
  statements = await watchStatements(homeport.place.settings.databaseUrl ?? '');
});
afterAll(async () => {
  await statements?.stop();
  await homeport?.remove();
});

it('no list reads more rows in a larger account, except those that are known', async () => {
  const growing = new Map<string, string[]>();
  const refused = new Set<string>();
  let seen = 0;
  statements.take();
  for await (const { operationId, parameter, query, isAnswered, isList } of everyList(homeport, owner, ids)) {
    if (isList && !isAnswered) refused.add(operationId);
    for (const [text, sent] of statements.take()) {
      if (!/^(select|with) /.test(text)) continue;
      seen += 1;
      const read = await statements.rowsRead(text, sent.at(-1) ?? [], MOST_ROWS / 2);
      const asked = `${operationId}${parameter ? `?${parameter}` : ''}`;
      const key = asked in KNOWN || !(operationId in KNOWN) ? asked : operationId;
      if (read.rows > MOST_ROWS)
        growing.set(key, [
          ...(growing.get(key) ?? []),
          `${query}: ${read.rows} rows, ${read.steps.join(', ')}`,
        ]);
    }
  }
  expect(seen).toBeGreaterThan(100);
  expect([...refused].filter((one) => !(one in REFUSED))).toEqual([]);
  const known = Object.keys(KNOWN);
  expect([...growing].filter(([key]) => !known.includes(key))).toEqual([]);
  // A user has 1,000 notifications at most.
  expect(Object.keys(GROWING).filter((key) => !growing.has(key))).toEqual(['listNotifications']);
});
