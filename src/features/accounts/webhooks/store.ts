import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Queries, Transaction } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';

export type StoredWebhook = Selectable<Tables['webhooks']>;

/** Inserts a webhook that is on. */
export async function insertWebhook(
  queries: Queries,
  webhook: Pick<
    Insertable<Tables['webhooks']>,
    | 'id'
    | 'account_id'
    | 'url'
    | 'description'
    | 'event_types'
    | 'install_ids'
    | 'sealed_secret'
    | 'created_at'
    | 'updated_at'
  >,
): Promise<void> {
  await queries.insertInto('webhooks').values(webhook).execute();
}

export function findWebhook(queries: Queries, id: string): Promise<StoredWebhook | undefined> {
  return queries.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The webhook, locked against other changes until the transaction ends. */
export function lockWebhook(
  { dialect, queries }: Transaction,
  id: string,
): Promise<StoredWebhook | undefined> {
  const query = queries.selectFrom('webhooks').selectAll().where('id', '=', id);
  return (dialect === 'postgres' ? query.forNoKeyUpdate() : query).executeTakeFirst();
}

/** Webhooks of accounts, oldest first. */
export async function pageOfWebhooks(
  queries: Queries,
  accountIds: readonly string[],
  page: PageRequest,
): Promise<PageOf<StoredWebhook>> {
  if (accountIds.length === 0) return { count: 0, results: [] };
  const of = queries.selectFrom('webhooks').where('account_id', 'in', accountIds);
  const { count } = await of.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const results = await of.selectAll().orderBy('seq').limit(page.limit).offset(page.offset).execute();
  return { count, results };
}

export async function countWebhooks(queries: Queries, accountId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function updateWebhook(
  queries: Queries,
  id: string,
  change: Updateable<Tables['webhooks']>,
): Promise<void> {
  await queries.updateTable('webhooks').set(change).where('id', '=', id).execute();
}

/** Deletes a webhook and its deliveries. */
export async function deleteWebhook(queries: Queries, id: string): Promise<void> {
  await queries.deleteFrom('webhooks').where('id', '=', id).execute();
}

/** Those of the given installs that an account has. */
export async function installsOfAccount(
  queries: Queries,
  accountId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await queries
    .selectFrom('installs')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .execute();
  return new Set(rows.map((row) => row.id));
}

export async function nameOfAccount(queries: Queries, accountId: string): Promise<string | undefined> {
  const row = await queries
    .selectFrom('accounts')
    .select('name')
    .where('id', '=', accountId)
    .executeTakeFirst();
  return row?.name;
}
