import { sql } from 'kysely';
import { inScope, type Scope } from '../../access/memberships.ts';
import type { Queries } from '../../database/database.ts';
import type { BackupStatus } from '../../database/tables/backups.ts';
import type { JobState } from '../../database/tables/jobs.ts';
import { copiesLane, prepareCopy } from '../backups/jobs.ts';

/** Literals, because they are the conditions of the two partial indexes of jobs by lane. */
const CONDITIONS = {
  unfinished: sql<boolean>`state in (${sql.lit<JobState>('queued')}, ${sql.lit<JobState>('running')})`,
  finished: sql<boolean>`state in ('succeeded', 'failed', 'cancelled')`,
};

/** The latest jobs of these kinds in an install's lanes, including copies that wait for their backup; latest first. */
export function latestJobs(
  queries: Queries,
  installId: string,
  states: keyof typeof CONDITIONS,
  { kinds, limit }: { kinds: readonly string[]; limit: number },
) {
  return (
    queries
      .selectFrom('jobs')
      .select(['seq', 'id', 'kind', 'payload', 'state', 'attempt', 'reason'])
      .select(['created_at', 'started_at', 'finished_at'])
      .where('lane', 'in', [installId, copiesLane(installId)])
      .where(CONDITIONS[states])
      // The copy that it enqueued is listed instead.
      .where((eb) => eb.not(eb.and({ kind: prepareCopy.name, state: 'succeeded' })))
      .where('kind', 'in', kinds)
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute()
  );
}

/** The given backups whose install is in `scope`. */
export function findBackupsOfJobs(queries: Queries, scope: Scope, ids: readonly string[]) {
  return queries
    .selectFrom('backups as backup')
    .innerJoin('installs as install', 'install.id', 'backup.install_id')
    .select(['backup.id', 'backup.description', 'backup.created_at'])
    .where('backup.id', 'in', ids)
    .where((eb) => inScope(eb, scope))
    .execute();
}

/** The statuses of the given backups, by id. */
export async function statusesOfBackups(
  queries: Queries,
  ids: readonly string[],
): Promise<Map<string, BackupStatus>> {
  if (ids.length === 0) return new Map();
  const rows = await queries.selectFrom('backups').select(['id', 'status']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, status }) => [id, status]));
}

/** The names of the given installs in `scope`, by id. */
export async function namesOfInstalls(
  queries: Queries,
  scope: Scope,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await queries
    .selectFrom('installs as install')
    .select(['install.id', 'install.name'])
    .where('install.id', 'in', ids)
    .where((eb) => inScope(eb, scope))
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
