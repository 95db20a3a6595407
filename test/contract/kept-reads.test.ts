import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database, Queries } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import {
  insertMember,
  insertOwnedAccount,
  insertUser,
  setInstallGrants,
} from '../../src/features/accounts/account-users/store.ts';
import { insertDefaultDomain, insertInstall } from '../../src/features/websites/installs/store.ts';
import { openTestDatabase, silent } from '../database.ts';
import { keptReadsOf } from './kept-reads.ts';

const CREATED_AT = '2026-01-01T00:00:00.000Z';
const account_id = crypto.randomUUID();
const install_id = crypto.randomUUID();
const owner_id = crypto.randomUUID();
const partial_id = crypto.randomUUID();
const partial = { account_id, user_id: partial_id };

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let other: Database;
let read: () => Promise<unknown>;
let readElsewhere: () => Promise<unknown>;

const person = (id: string) => ({ id, email: `${id}@x.example`, first_name: 'A', last_name: 'B' });

beforeAll(async () => {
  database = await openTestDatabase();
  other = openDatabase(database.place.settings, silent);
  await database.write(async ({ queries }) => {
    await insertOwnedAccount(queries, {
      account: { id: account_id, name: 'Account' },
      owner: person(owner_id),
      created_at: CREATED_AT,
    });
    await insertUser(queries, { ...person(partial_id), created_at: CREATED_AT });
    await insertMember(queries, {
      ...partial,
      role: 'partial',
      billing: false,
      invited_as: { first_name: 'A', last_name: 'B' },
      created_at: CREATED_AT,
    });
    await insertInstall(queries, {
      id: install_id,
      account_id,
      site_id: null,
      environment: null,
      name: 'shop',
      status: 'pending',
      php_version: null,
      stable_ips: null,
      offload_file_name: 'a',
      offload_file_content: 'b',
      created_at: CREATED_AT,
    });
    await insertDefaultDomain(queries, {
      id: crypto.randomUUID(),
      install_id,
      name: 'shop.localhost',
      created_at: CREATED_AT,
    });
  });
  const reads = await keptReadsOf(database, account_id, CREATED_AT);
  [read, readElsewhere] = [reads(database), reads(other)];
});
afterAll(async () => {
  await other?.close();
  await database?.remove();
});

/** Every kind of change of the rows that kept answers are made of, one after the other. */
const CHANGES: Record<string, (queries: Queries) => Promise<unknown>> = {
  'the install becomes active': (queries) =>
    queries.updateTable('installs').set({ status: 'active' }).where('id', '=', install_id).execute(),
  'its primary domain is renamed': (queries) =>
    queries
      .updateTable('domains')
      .set({ name: 'shop.example' })
      .where('install_id', '=', install_id)
      .execute(),
  'another domain becomes primary': async (queries) => {
    await queries
      .updateTable('domains')
      .set({ is_primary: false })
      .where('install_id', '=', install_id)
      .execute();
    const next = { id: crypto.randomUUID(), install_id, name: 'next.example', created_at: CREATED_AT };
    await insertDefaultDomain(queries, next);
  },
  'the primary domain is deleted': (queries) =>
    queries.deleteFrom('domains').where('name', '=', 'next.example').execute(),
  'an install is given to a user': (queries) => setInstallGrants(queries, partial, [install_id]),
  'an invitation is accepted': (queries) =>
    queries
      .updateTable('memberships')
      .set({ invite_accepted: true })
      .where('user_id', '=', partial_id)
      .execute(),
  'an install is taken from a user': (queries) => setInstallGrants(queries, partial, []),
  'a role changes': (queries) =>
    queries.updateTable('memberships').set({ role: 'full' }).where('user_id', '=', partial_id).execute(),
  'an account requires a second factor': (queries) =>
    queries
      .updateTable('accounts')
      .set({ requires_second_factor: true })
      .where('id', '=', account_id)
      .execute(),
  'a user gets a second factor': (queries) =>
    queries.updateTable('users').set({ mfa_enabled: true }).where('id', '=', owner_id).execute(),
  'a session is used': (queries) =>
    queries
      .updateTable('sessions')
      .set({ last_seen_at: '2026-01-02T00:00:00.000Z' })
      .where('user_id', '=', owner_id)
      .execute(),
  'a membership is removed, and its grants with it': async (queries) => {
    await setInstallGrants(queries, partial, [install_id]);
    await queries.deleteFrom('memberships').where('user_id', '=', partial_id).execute();
  },
  'a user is deleted, and their sessions with them': (queries) =>
    queries.deleteFrom('users').where('id', '=', partial_id).execute(),
  'the install is deleted, and its domains with it': (queries) =>
    queries.deleteFrom('installs').where('id', '=', install_id).execute(),
};

it.each(Object.entries(CHANGES))('no kept answer is stale after: %s', async (_, change) => {
  const before = await read();
  await database.write(({ queries }) => change(queries));
  const after = await read();
  // Otherwise a stale answer would be right.
  expect(after).not.toEqual(before);
  expect(after).toEqual(await readElsewhere());
});
