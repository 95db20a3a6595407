import type { Database } from '../../database/database.ts';
import { allHosts } from '../../features/hosts/store.ts';

const MOST_JOBS = 200;
const COUNTED = [
  'accounts',
  'users',
  'sites',
  'installs',
  'domains',
  'certificates',
  'backups',
  'webhooks',
] as const;

/** How many rows of each kind there are. */
export async function countsOf({ reader }: Pick<Database, 'reader'>): Promise<Record<string, unknown>> {
  const counts: Record<string, unknown> = {};
  for (const table of COUNTED) {
    const { count } = await reader
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number | string>().as('count'))
      .executeTakeFirstOrThrow();
    counts[table] = Number(count);
  }
  const jobs = await reader
    .selectFrom('jobs')
    .select((eb) => ['state', eb.fn.countAll<number | string>().as('count')])
    .groupBy('state')
    .execute();
  return { ...counts, jobs: Object.fromEntries(jobs.map(({ state, count }) => [state, Number(count)])) };
}

/** What the platform knows of its hosts, without keys. */
export async function hostStates({ reader }: Pick<Database, 'reader'>): Promise<unknown[]> {
  return (await allHosts(reader)).map(({ name, address, accepting, seen_at, reason, description }) => ({
    name,
    address,
    accepting,
    seen_at,
    reason,
    ...(description && {
      capacity: description.capacity,
      ports: description.ports,
      php_versions: description.phpVersions,
      wordpress_versions: description.wordpressVersions,
    }),
  }));
}

/** The last jobs that failed, newest first. Their payloads are left out, because some are secret. */
export function failedJobs({ reader }: Pick<Database, 'reader'>): Promise<unknown[]> {
  return reader
    .selectFrom('jobs')
    .select([
      'id',
      'kind',
      'class',
      'lane',
      'attempt',
      'error',
      'request_id',
      'created_at',
      'started_at',
      'finished_at',
    ])
    .where('state', '=', 'failed')
    .orderBy('finished_at', 'desc')
    .limit(MOST_JOBS)
    .execute();
}
