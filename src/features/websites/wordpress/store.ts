import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import { inScope, type Scope } from '../../../access/memberships.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { Environment } from '../../../database/tables/installs.ts';
import type { JobState } from '../../../database/tables/jobs.ts';
import type { WordPressReadingRow } from '../../../database/tables/wordpress.ts';
import type { Tables } from '../../../database/tables.ts';
import { hasWithoutIndex } from '../../../database/without-index.ts';
import type { Runtime } from '../../../hosting/contract/install-state.ts';
import type { WordPressReading } from '../../../hosting/contract/wordpress.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import { hasStoredCounts, storedCount } from '../installs/counts-store.ts';
import { countInstalls, installsMatching } from '../installs/list-store.ts';

// Literals, so that the databases use the indexes of unfinished jobs.
const queued = sql.lit<JobState>('queued');
const running = sql.lit<JobState>('running');

export type StoredReading = Selectable<WordPressReadingRow>;

/** What is known of the WordPress of an install; undefined before the first attempt to read it. */
export function findReading(queries: Queries, installId: string): Promise<StoredReading | undefined> {
  return queries
    .selectFrom('wordpress_readings')
    .selectAll()
    .where('install_id', '=', installId)
    .executeTakeFirst();
}

/** Whether an install runs WordPress: every one on a Linux host, and those of the embedded host with that runtime. */
const runsWordPress = (eb: ExpressionBuilder<Tables, 'installs'>) =>
  eb.or([eb('installs.host_id', 'is not', null), eb('installs.runtime', '=', sql.lit('wordpress'))]);

/** Whether the install is active and runs WordPress. */
export async function hasActiveWordPress(queries: Queries, installId: string): Promise<boolean> {
  const row = await queries
    .selectFrom('installs')
    .select('id')
    .where('id', '=', installId)
    .where('status', '=', 'active')
    .where(runsWordPress)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a reading of that lane has not begun yet. */
export async function hasQueuedReading(queries: Queries, lane: string): Promise<boolean> {
  const row = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', '=', lane)
    .where('state', 'in', [queued, running])
    .where('state', '=', queued)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The time a day after `now`. */
const nextDay = (now: string) => new Date(Date.parse(now) + DAY_MS).toISOString();

/** Stores a reading. Does nothing if the install has been deleted. */
export async function storeReading(
  transaction: Transaction,
  installId: string,
  reading: WordPressReading,
  now: string,
): Promise<void> {
  const former = await findReading(transaction.queries, installId);
  const { updateCheck, siteHealth, mark, core, plugins, themes } = reading;
  const failures = Object.entries(updateCheck ?? {}).filter(([, reason]) => reason !== null);
  const figures = {
    reading: JSON.stringify({ ...reading, siteHealth: siteHealth ?? formerHealth(former) }),
    core_version: core.version,
    core_update: core.update?.version ?? null,
    plugin_updates: plugins.filter(({ update }) => update !== null).length,
    theme_updates: themes.filter(({ update }) => update !== null).length,
    read_at: now,
    error: null,
    tried_at: now,
    mark,
    ...(updateCheck === null
      ? {}
      : {
          due_at: nextDay(now),
          updates_error: failures.length === 0 ? null : sentenceOf(failures),
          ...(failures.length === 0 ? { updates_checked_at: now } : {}),
        }),
    ...(siteHealth === null ? {} : { health_examined_at: now }),
  };
  await put(transaction, installId, figures, now);
}

/** Stores that a reading failed. The former reading stays. */
export async function storeFailure(
  transaction: Transaction,
  installId: string,
  { error, mark, check }: { error: string; mark?: string | null; check: boolean },
  now: string,
): Promise<void> {
  const failure = {
    error,
    tried_at: now,
    ...(mark === undefined ? {} : { mark }),
    ...(check ? { due_at: nextDay(now) } : {}),
  };
  await put(transaction, installId, failure, now);
}

async function put(
  transaction: Transaction,
  installId: string,
  figures: Partial<Omit<WordPressReadingRow, 'install_id' | 'reading'>> & { reading?: string },
  now: string,
): Promise<void> {
  // A trigger stores the number of updates with the install, so it is locked first, as by requests.
  if (!(await lockRow(transaction, 'installs', installId))) return;
  await transaction.queries
    .insertInto('wordpress_readings')
    .values({ install_id: installId, plugin_updates: 0, theme_updates: 0, due_at: now, ...figures })
    .onConflict((conflict) => conflict.column('install_id').doUpdateSet(figures))
    .execute();
}

/** Examining the health of a website takes long, so a reading without it keeps the former result. */
function formerHealth(row: StoredReading | undefined): unknown {
  const former = row?.reading;
  return typeof former === 'object' && former !== null && 'siteHealth' in former ? former.siteHealth : null;
}

function sentenceOf(failures: [string, string | null][]): string {
  const kinds = failures.map(([kind]) => (kind === 'core' ? 'WordPress' : kind));
  const reason = failures[0]?.[1] ?? '';
  return `No answer about updates of ${kinds.join(', ')}: ${reason}`;
}

/**
 * A condition: the install is active and runs WordPress on one of these hosts, and no reading of it waits or runs. With literals, so that
 * the databases use the index of unread installs.
 */
const isReadable = (eb: ExpressionBuilder<Tables, 'installs'>, hostIds: readonly (string | null)[]) =>
  eb.and([
    eb('installs.status', '=', sql.lit('active')),
    runsWordPress(eb),
    // Most installs are on the same host.
    eb.or(hostIds.map((hostId) => hasWithoutIndex('installs.host_id', hostId))),
    eb.not(
      eb.exists(
        eb
          .selectFrom('jobs')
          .select('jobs.id')
          .where(sql<boolean>`jobs.lane = 'wordpress:' || cast(installs.id as text)`)
          .where('jobs.state', 'in', [queued, running]),
      ),
    ),
  ]);

/**
 * Installs with WordPress on these hosts whose daily reading is due, longest waiting first, without those whose reading waits or runs.
 * Null: the embedded host.
 */
export async function dueInstalls(
  queries: Queries,
  hostIds: readonly (string | null)[],
  now: string,
  limit: number,
): Promise<string[]> {
  if (hostIds.length === 0) return [];
  const [unread, due] = await Promise.all([
    queries
      .selectFrom('installs')
      .select(['installs.id', 'installs.created_at as since'])
      .where((eb) => isReadable(eb, hostIds))
      .where('installs.awaits_reading', '=', sql.lit(true))
      .orderBy('installs.seq')
      .limit(limit)
      .execute(),
    queries
      .selectFrom('wordpress_readings')
      .innerJoin('installs', 'installs.id', 'wordpress_readings.install_id')
      .select(['installs.id', 'wordpress_readings.due_at as since'])
      .where((eb) => isReadable(eb, hostIds))
      .where('wordpress_readings.due_at', '<=', now)
      .orderBy('wordpress_readings.due_at')
      .limit(limit)
      .execute(),
  ]);
  return [...unread, ...due]
    .sort((one, other) => Date.parse(one.since) - Date.parse(other.since))
    .slice(0, limit)
    .map(({ id }) => id);
}

/** The number of active installs, most of which have WordPress. */
export async function countActive(queries: Queries): Promise<number> {
  const { count } = await queries
    .selectFrom('install_counts')
    .select(sql<number>`cast(coalesce(sum(installs), 0) as bigint)`.as('count'))
    .where('status', '=', 'active')
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Of some installs of a host (null: the embedded one), those that were read before, with the mark of that time. Leaves out installs tried since `since`, and those
 * whose last reading was given up: they wait for their daily one.
 */
export function marksOf(
  queries: Queries,
  hostId: string | null,
  installIds: readonly string[],
  since: string,
): Promise<{ install_id: string; mark: string | null }[]> {
  return queries
    .selectFrom('wordpress_readings as known')
    .innerJoin('installs as install', 'install.id', 'known.install_id')
    .select(['known.install_id', 'known.mark'])
    .where('install.host_id', 'is not distinct from', hostId)
    .where('install.status', '=', 'active')
    .where('known.install_id', 'in', installIds)
    .where((eb) => eb.or([eb('known.tried_at', 'is', null), eb('known.tried_at', '<', since)]))
    .where((eb) => eb.or([eb('known.error', 'is', null), eb('known.mark', 'is not', null)]))
    .execute();
}

/** An install in the list of an account. */
export interface WordPressSummaryRow {
  id: string;
  name: string;
  environment: Environment | null;
  wordpress_version: string | null;
  host_id: string | null;
  runtime: Runtime | null;
  core_version: string | null;
  core_update: string | null;
  plugin_updates: number | null;
  theme_updates: number | null;
  read_at: string | null;
  error: string | null;
}

/** A page of the installs of an account that a scope shows, by name, with what is known of their WordPress. */
export async function pageOfSummaries(
  queries: Queries,
  { accountId, scope, waiting, tags }: { accountId: string; scope: Scope; waiting: boolean; tags?: string },
  { limit, offset }: PageRequest,
): Promise<PageOf<WordPressSummaryRow>> {
  const tagged = tags === undefined ? null : await countInstalls(queries, scope, { tags });
  const installs =
    tags === undefined || tagged === null
      ? queries.selectFrom('installs as install').where((eb) => inScope(eb, scope))
      : installsMatching(queries, scope, { tags }, { limit, count: tagged });
  const all = installs
    .where('install.account_id', '=', accountId)
    // A literal, so that the databases use the index of these installs.
    .$if(waiting, (query) => query.where('install.waiting_updates', '>', sql.lit(0)));
  const counting =
    tagged !== null && !waiting
      ? tagged
      : hasStoredCounts(scope) && tags === undefined
        ? storedCount(queries, scope, waiting ? { waiting } : {})
        : all
            .select((eb) => eb.fn.countAll<number>().as('count'))
            .executeTakeFirstOrThrow()
            .then(({ count }) => count);
  const [count, results] = await Promise.all([
    counting,
    all
      .leftJoin('wordpress_readings as known', 'known.install_id', 'install.id')
      .select(['install.id', 'install.name', 'install.environment', 'install.wordpress_version'])
      .select(['install.host_id', 'install.runtime'])
      .select(['known.core_version', 'known.core_update', 'known.plugin_updates', 'known.theme_updates'])
      .select(['known.read_at', 'known.error'])
      .orderBy('install.name')
      .limit(limit)
      .offset(offset)
      .execute(),
  ]);
  return { results, count };
}
