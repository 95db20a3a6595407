import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase } from '../../../../test/database.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import { createEventPlacement } from './placement.ts';
import { CHECKED_AT_ONCE, type PlacedEvent } from './store.ts';

const NOW = '2026-05-10T12:00:00.000Z';
const MEMBERS = 100;

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.remove());

/** An account with as many owners. */
async function account(owners: number): Promise<string> {
  const id = crypto.randomUUID();
  await database.write(async ({ queries }) => {
    await queries.insertInto('accounts').values({ id, name: 'Agency', created_at: NOW }).execute();
    const ids = Array.from({ length: owners }, () => crypto.randomUUID());
    await queries
      .insertInto('users')
      .values(
        ids.map((userId) => ({
          ...{ id: userId, email: `${userId}@example.com`, email_key: `${userId}@example.com` },
          ...{ first_name: 'A', last_name: 'B', phone: null, password_hash: null, created_at: NOW },
        })),
      )
      .execute();
    await queries
      .insertInto('memberships')
      .values(
        ids.map((user_id) => ({
          ...{ account_id: id, user_id, role: 'owner' as const, billing: false },
          ...{ invite_accepted: true, created_at: NOW },
        })),
      )
      .execute();
  });
  // The events of the account itself.
  await createEventPlacement(database, async () => {}, new Set(['none'])).place();
  return id;
}

/** `committed`: the transaction ends when it resolves. */
async function insertEvents(
  account_id: string,
  types: readonly string[],
  committed: () => Promise<void> = async () => {},
): Promise<void> {
  await database.write(async ({ queries }) => {
    await queries
      .insertInto('events')
      .values(
        types.map((type) => ({
          ...{ id: crypto.randomUUID(), type, account_id, install_id: null, subject_id: null },
          ...{ data: '{}', created_at: NOW },
        })),
      )
      .execute();
    await committed();
  });
}

/** Places all events. Returns the numbers of each transaction, and how many were placed before another writer came. */
async function place(): Promise<{ parts: PlacedEvent[][]; before: number }> {
  const parts: PlacedEvent[][] = [];
  let other: Promise<number> | undefined;
  const placement = createEventPlacement(
    database,
    async (_transaction, events) => {
      parts.push([...events]);
      other ??= database.write(async () => parts.length);
    },
    new Set(['operation.failed']),
  );
  await placement.place();
  return { parts, before: (await other) ?? 0 };
}

it('places events for many people in parts, and lets other writers come between', async () => {
  const id = await account(MEMBERS);
  await insertEvents(id, Array<string>(90).fill('operation.failed'));
  const { parts, before } = await place();
  const most = CHECKED_AT_ONCE / MEMBERS;
  expect(parts.map(({ length }) => length)).toEqual([most, most, most, most, 90 - 4 * most]);
  // SQLite has one writer. On PostgreSQL, another one may be slower, but never waits.
  if (database.dialect === 'sqlite') expect(before).toBe(1);
  const numbers = parts.flat().map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.toSorted((one, next) => one - next));
  const rows = await database.reader
    .selectFrom('events')
    .select('position')
    .where('type', '=', 'operation.failed')
    .orderBy('seq')
    .execute();
  const [first = 0] = rows.map(({ position }) => Number(position));
  expect(rows.map(({ position }) => Number(position))).toEqual(rows.map((_, index) => first + index));
});

it('places events that notify no one, or one person, at once', async () => {
  const [many, one] = [await account(MEMBERS), await account(1)];
  await insertEvents(many, Array<string>(200).fill('site.updated'));
  await insertEvents(one, Array<string>(200).fill('operation.failed'));
  expect((await place()).parts.map(({ length }) => length)).toEqual([400]);
});

// SQLite has one writer. A reader that follows the positions would skip an event that comes below them later.
onlyOn('postgres', it)(
  'places an event that was written first and committed last after the others',
  async () => {
    const id = await account(1);
    const [written, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const late = insertEvents(id, ['site.created'], () => {
      written.resolve();
      return released.promise;
    });
    await written.promise;
    await insertEvents(id, ['site.updated']);
    await place();
    released.resolve();
    await late;
    await place();
    const rows = await database.reader
      .selectFrom('events')
      .select(['type', 'position'])
      .where('account_id', '=', id)
      .where('type', 'in', ['site.created', 'site.updated'])
      .where('position', 'is not', null)
      .orderBy('position')
      .execute();
    expect(rows.map(({ type }) => type)).toEqual(['site.updated', 'site.created']);
  },
);
