import { sql } from 'kysely';
import type { Queries } from '../../database/database.ts';
import { type InstallRange, installRanges } from '../../database/install-ranges.ts';
import type { WordPressUpdateStatus } from '../../database/tables/wordpress-updates.ts';
import type { Runtime } from '../../hosting/contract/install-state.ts';
import { DEFAULT_POLICY, isTimeZone, type UpdatePolicy } from './policy.ts';
import { policyOf } from './policy-store.ts';
import { brokenItem } from './store.ts';

const OPEN: WordPressUpdateStatus[] = ['requested', 'running'];

/** An install that the schedule may update: active, with WordPress on a host that answers, without an update in progress. */
export interface Candidate {
  id: string;
  /** Null on the embedded host. */
  host_id: string | null;
  runtime: Runtime | null;
  wordpress_version: string;
  /** Whether its users have deferred updates of WordPress. */
  isDeferred: boolean;
  policy: UpdatePolicy;
  plugins_at: string | null;
  themes_at: string | null;
}

/** Leaves out installs whose stored policy cannot be read, and reports them to `onFault`. */
export async function scheduleCandidates(
  queries: Queries,
  which: { now: string; isEmbedded: boolean },
  onFault: (installId: string, error: unknown) => void,
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for await (const range of installRanges(queries)) {
    for (const one of await candidatesIn(queries, which, range, onFault)) found.push(one);
  }
  return found;
}

async function candidatesIn(
  queries: Queries,
  { now, isEmbedded }: { now: string; isEmbedded: boolean },
  { after, to }: InstallRange,
  onFault: (installId: string, error: unknown) => void,
): Promise<Candidate[]> {
  const rows = await queries
    .selectFrom('installs as install')
    .leftJoin('hosts as host', 'host.id', 'install.host_id')
    .leftJoin('wordpress_update_policies as policy', 'policy.install_id', 'install.id')
    .select(['install.id', 'install.host_id', 'install.runtime'])
    .select(['install.wordpress_version', 'install.defer_wordpress_until'])
    .select(['policy.core', 'policy.plugins', 'policy.themes', 'policy.maintenance_window', 'policy.pages'])
    .select(['policy.plugins_at', 'policy.themes_at'])
    .where('install.seq', '>', after)
    .where('install.seq', '<=', to)
    .where('install.status', '=', 'active')
    .where('host.reason', 'is', null)
    .where('install.host_id', isEmbedded ? 'is' : 'is not', null)
    .where('install.wordpress_version', 'is not', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('wordpress_updates as open')
            .select('open.id')
            .whereRef('open.install_id', '=', 'install.id')
            .where('open.status', 'in', OPEN),
        ),
      ),
    )
    .orderBy('install.seq')
    .execute();
  return rows.flatMap(({ id, host_id, runtime, wordpress_version, defer_wordpress_until, ...row }) => {
    if (wordpress_version === null) return [];
    const { core, plugins, themes, maintenance_window, pages, plugins_at, themes_at } = row;
    const isDecided = core !== null && plugins !== null && themes !== null;
    let policy = DEFAULT_POLICY;
    try {
      if (isDecided) policy = policyOf({ core, plugins, themes, maintenance_window, pages });
      if (policy.window !== null) requireTimeZone(policy.window.time_zone);
    } catch (error) {
      onFault(id, error);
      return [];
    }
    return {
      id,
      host_id,
      runtime,
      wordpress_version,
      isDeferred: defer_wordpress_until !== null && defer_wordpress_until > now,
      policy,
      plugins_at,
      themes_at,
    };
  });
}

function requireTimeZone(name: string): void {
  if (!isTimeZone(name)) throw new Error(`the time zone ${name} is unknown here`);
}

/** The number of scheduled updates that are requested or run. */
export async function countOpenScheduled(queries: Queries): Promise<number> {
  const { count } = await queries
    .selectFrom('wordpress_updates')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('cause', '=', 'schedule')
    .where('status', 'in', OPEN)
    .executeTakeFirstOrThrow();
  return count;
}

/** An update of an install to a release of WordPress. */
export interface CoreAttempt {
  install_id: string;
  cause: 'request' | 'schedule';
  status: WordPressUpdateStatus;
  begun_at: string | null;
  created_at: string;
  finished_at: string | null;
}

/** The scheduled updates to a release, and those that users requested and the release itself broke. */
export async function coreAttempts(queries: Queries, version: string): Promise<CoreAttempt[]> {
  const rows = await queries
    .selectFrom('wordpress_updates')
    .select(['install_id', 'cause', 'status', 'broken', 'begun_at', 'created_at', 'finished_at'])
    .where('core_to', '=', version)
    .where((eb) => eb.or([eb('cause', '=', 'schedule'), eb('status', '=', 'rolled_back')]))
    .execute();
  return rows.flatMap(({ broken, ...attempt }) =>
    attempt.cause === 'schedule' || brokenItem(broken)?.kind === 'core' ? [attempt] : [],
  );
}

/** Open updates from before a time whose install has no unfinished job, such as after an upgrade that changed stored jobs. */
export async function lostUpdates(queries: Queries, before: string): Promise<string[]> {
  const rows = await queries
    .selectFrom('wordpress_updates as open')
    .select('open.id')
    .where('open.status', 'in', OPEN)
    .where('open.created_at', '<', before)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('jobs')
            .select('jobs.id')
            .where(sql<boolean>`jobs.lane = cast(open.install_id as text)`)
            .where('jobs.state', 'in', ['queued', 'running']),
        ),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}

/** Notes that the schedule looks at plugins, at themes or at both. */
export async function noteLook(
  queries: Queries,
  installId: string,
  looked: { plugins_at?: string; themes_at?: string },
): Promise<void> {
  await queries
    .updateTable('wordpress_update_policies')
    .set(looked)
    .where('install_id', '=', installId)
    .execute();
}
