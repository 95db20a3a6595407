import type { Queries } from '../../../database/database.ts';
import { recordRecoveryPoint } from './jobs.ts';

/** An install that is due. `mark`: of its newest recovery point; null if it changed since, or has none. */
export interface DueInstall {
  install_id: string;
  host_id: string;
  mark: string | null;
}

/** Transactions that insert installs at the same time can end in another order than that of their `seq`. */
const OVERLAP = 1_000;

/** The first installs that have no recovery state yet, in the order of their creation. */
export async function installsWithoutState(
  queries: Queries,
  limit: number,
): Promise<{ id: string; seq: number }[]> {
  const { last } = await queries
    .selectFrom('recovery_states')
    .select((eb) => eb.fn.max<number | null>('install_seq').as('last'))
    .executeTakeFirstOrThrow();
  return queries
    .selectFrom('installs as install')
    .select(['install.id', 'install.seq'])
    .where('install.seq', '>', (last ?? 0) - OVERLAP)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('recovery_states as state')
            .select('state.install_id')
            .whereRef('state.install_id', '=', 'install.id'),
        ),
      ),
    )
    .orderBy('install.seq')
    .limit(limit)
    .execute();
}

/**
 * Active installs with all their data on hosts that answer, that are due and have no unfinished job; longest due first. `changed`: only those that are known
 * to have changed, or only the others. `without`: hosts to leave out.
 */
export async function dueInstalls(
  queries: Queries,
  {
    now,
    changed,
    limit,
    without = [],
  }: { now: string; changed: boolean; limit: number; without?: readonly string[] },
): Promise<DueInstall[]> {
  const rows = await queries
    .selectFrom('recovery_states as state')
    .innerJoin('installs as install', 'install.id', 'state.install_id')
    .innerJoin('hosts as host', 'host.id', 'install.host_id')
    .select(['state.install_id', 'host.id as host_id', 'state.mark'])
    .where('state.due_at', '<=', now)
    .where('state.mark', changed ? 'is' : 'is not', null)
    .where('install.status', '=', 'active')
    // A snapshot of what is left would replace the good ones.
    .where('install.lost_data', 'is', null)
    .where('host.reason', 'is', null)
    .where('host.lost_at', 'is', null)
    .$if(without.length > 0, (query) => query.where('host.id', 'not in', without))
    // Never beside a backup, a restore, an update or a move.
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('jobs as job')
            .select('job.id')
            // Lanes have the type text.
            .where((of) => of('job.lane', '=', of.cast<string>('state.install_id', 'text')))
            .where('job.state', 'in', ['queued', 'running']),
        ),
      ),
    )
    .orderBy('state.due_at')
    .limit(limit)
    .execute();
  return rows;
}

/** How many recovery points each host has under way. */
export async function pointsUnderWay(queries: Queries): Promise<Map<string, number>> {
  const rows = await queries
    .selectFrom('jobs as job')
    .innerJoin('installs as install', (join) =>
      join.on((of) => of(of.cast<string>('install.id', 'text'), '=', of.ref('job.lane'))),
    )
    .select((eb) => ['install.host_id', eb.fn.countAll<number | string>().as('count')])
    .where('job.kind', '=', recordRecoveryPoint.name)
    .where('job.state', 'in', ['queued', 'running'])
    .groupBy('install.host_id')
    .execute();
  return new Map(rows.flatMap(({ host_id, count }) => (host_id === null ? [] : [[host_id, Number(count)]])));
}
