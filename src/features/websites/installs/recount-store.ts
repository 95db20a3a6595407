import { type ExpressionBuilder, sql } from 'kysely';
import type { Database, Queries } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { Environment } from '../../../database/tables/installs.ts';
import type { Tables } from '../../../database/tables.ts';
import { deriveAgain, wronglyDerived } from './derived-rows-store.ts';

/** The number of waiting updates in the reading of an install. */
const waitingUpdates = sql<number>`coalesce((
  select known.plugin_updates + known.theme_updates + case when known.core_update is null then 0 else 1 end
  from wordpress_readings as known where known.install_id = install.id
), 0)`;

/** The installs by the values of `install_counts`, as their rows say. */
const counted = (queries: Queries) =>
  queries
    .selectFrom('installs as install')
    .select(['install.account_id', 'install.status'])
    .select(sql<Environment | ''>`coalesce(install.environment, '')`.as('environment'))
    .select(sql<boolean>`install.waiting_updates > 0`.as('is_waiting'))
    .select((eb) => eb.fn.countAll<number>().as('installs'))
    .groupBy(['install.account_id', 'install.status', 'environment', 'is_waiting']);

const stored = (queries: Queries) =>
  queries
    .selectFrom('install_counts')
    .select(['account_id', 'status', 'environment', 'is_waiting', 'installs'])
    .where('installs', '<>', 0);

/** The number of installs in each site, as its rows say. */
const sizeOf = sql<number>`(select count(*) from installs where installs.site_id = size.site_id)`;

const countedTags = (queries: Queries) =>
  queries
    .selectFrom('site_tags as tagged')
    .innerJoin('site_sizes as size', 'size.site_id', 'tagged.site_id')
    .select((eb) => [
      'tagged.account_id',
      'tagged.key',
      eb.fn.countAll<number>().as('sites'),
      sql<number>`cast(sum(size.installs) as bigint)`.as('installs'),
    ])
    .groupBy(['tagged.account_id', 'tagged.key']);

const storedTags = (queries: Queries) =>
  queries.selectFrom('tag_counts').select(['account_id', 'key', 'sites', 'installs']);

const totals = (eb: ExpressionBuilder<Tables & { account: Tables['accounts'] }, 'account'>) => ({
  sites: eb
    .selectFrom('sites')
    .select((of) => of.fn.countAll<number>().as('count'))
    .whereRef('sites.account_id', '=', 'account.id'),
  installs: eb
    .selectFrom('installs')
    .select((of) => of.fn.countAll<number>().as('count'))
    .whereRef('installs.account_id', '=', 'account.id'),
});

/**
 * The accounts whose stored counts, or rows that are derived from others, are wrong. Reads every install, so only other processes than the
 * server call it.
 */
export async function miscountedAccounts(queries: Queries): Promise<string[]> {
  const [counts, derived] = [await miscounted(queries), await wronglyDerived(queries)];
  return [...new Set([...counts, ...derived])];
}

/** The accounts whose stored counts differ from their rows. */
async function miscounted(queries: Queries): Promise<string[]> {
  const rows = await queries
    .selectFrom('accounts as account')
    .select('account.id')
    .where((eb) => {
      const { sites, installs } = totals(eb);
      return eb.or([
        eb('account.site_count', '<>', sites),
        eb('account.install_count', '<>', installs),
        eb('account.id', 'in', (of) =>
          of.selectFrom(counted(queries).except(stored(queries)).as('missing')).select('account_id'),
        ),
        eb('account.id', 'in', (of) =>
          of.selectFrom(stored(queries).except(counted(queries)).as('surplus')).select('account_id'),
        ),
        eb('account.id', 'in', (of) =>
          of.selectFrom('site_sizes as size').select('size.account_id').where('size.installs', '<>', sizeOf),
        ),
        eb('account.id', 'in', (of) =>
          of.selectFrom(countedTags(queries).except(storedTags(queries)).as('missing')).select('account_id'),
        ),
        eb('account.id', 'in', (of) =>
          of.selectFrom(storedTags(queries).except(countedTags(queries)).as('surplus')).select('account_id'),
        ),
        eb('account.id', 'in', (of) =>
          of
            .selectFrom('installs as install')
            .select('install.account_id')
            .where('install.waiting_updates', '<>', waitingUpdates),
        ),
      ]);
    })
    .orderBy('account.seq')
    .execute();
  return rows.map(({ id }) => id);
}

/** Counts the sites and installs of an account again, stores the numbers, and derives again what else is wrong. */
export async function recountAccount(database: Pick<Database, 'write'>, accountId: string): Promise<void> {
  await database.write(async (transaction) => {
    const { queries } = transaction;
    // Every change of a count holds this row until its commit.
    await lockRow(transaction, 'accounts', accountId);
    await queries
      .updateTable('installs as install')
      .set({ waiting_updates: waitingUpdates })
      .where('install.account_id', '=', accountId)
      .where('install.waiting_updates', '<>', waitingUpdates)
      .execute();
    await queries.deleteFrom('install_counts').where('account_id', '=', accountId).execute();
    await queries
      .insertInto('install_counts')
      .columns(['account_id', 'status', 'environment', 'is_waiting', 'installs'])
      .expression(counted(queries).where('install.account_id', '=', accountId))
      .execute();
    await queries
      .updateTable('site_sizes as size')
      .set({ installs: sizeOf })
      .where('size.account_id', '=', accountId)
      .where('size.installs', '<>', sizeOf)
      .execute();
    // Counts of tags follow.
    await deriveAgain(queries, accountId);
    await queries.deleteFrom('tag_counts').where('account_id', '=', accountId).execute();
    await queries
      .insertInto('tag_counts')
      .columns(['account_id', 'key', 'sites', 'installs', 'tag'])
      .expression(
        countedTags(queries)
          .select((eb) => eb.fn.min('tagged.tag').as('tag'))
          .where('tagged.account_id', '=', accountId),
      )
      .execute();
    await queries
      .updateTable('accounts as account')
      .set((eb) => {
        const { sites, installs } = totals(eb);
        return { site_count: sites, install_count: installs };
      })
      .where('account.id', '=', accountId)
      .execute();
  });
}
