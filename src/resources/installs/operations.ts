import { sql } from 'kysely';
import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Caller } from '../../access/caller.ts';
import { loadScope } from '../../access/memberships.ts';
import { authorize } from '../../access/permissions.ts';
import { timestamp } from '../../clock.ts';
import type { JobState } from '../../database/tables/jobs.ts';
import { CACHE_KINDS, type CacheKind } from '../../hosting/host.ts';
import type { Platform } from '../../platform.ts';
import { createBackup, restoreBackup } from '../backups/jobs.ts';
import { purgeCache } from '../caches/jobs.ts';
import { loadOffers } from '../hosts/offers.ts';
import { OPERATION_KINDS, operationSchema } from './schema.ts';
import { findStanding, inScope } from './store.ts';

export type Operation = Static<typeof operationSchema>;

/** When what an install takes only so often may be asked for again; null: now. */
export interface NextTurns {
  purge_object: string | null;
  check_status: string | null;
}

export type OperationsService = ReturnType<typeof createOperationsService>;

const MOST_OPERATIONS = 50;

/** Literals, and together the conditions of the two indexes of jobs by lane. */
const UNFINISHED = sql<boolean>`state in (${sql.lit<JobState>('queued')}, ${sql.lit<JobState>('running')})`;
const FINISHED = sql<boolean>`state in ('succeeded', 'failed', 'cancelled')`;

export function createOperationsService({ config, database, clock }: Platform) {
  const { reader } = database;

  /** The latest jobs of an install's lane, the latest first. */
  async function latest(installId: string, states: typeof FINISHED) {
    return reader
      .selectFrom('jobs')
      .select(['seq', 'id', 'kind', 'payload', 'state', 'attempt', 'reason'])
      .select(['created_at', 'started_at', 'finished_at'])
      .where('lane', '=', installId)
      .where(states)
      .where('kind', 'in', OPERATION_KINDS)
      .orderBy('seq', 'desc')
      .limit(MOST_OPERATIONS)
      .execute();
  }

  async function nextTurns(installId: string): Promise<NextTurns> {
    const held = await reader
      .selectFrom('install_limits')
      .select(['operation', 'next_at'])
      .where('install_id', '=', installId)
      .where('next_at', '>', timestamp(clock))
      .execute();
    const next = (operation: keyof NextTurns) =>
      held.find((limit) => limit.operation === operation)?.next_at ?? null;
    return { purge_object: next('purge_object'), check_status: next('check_status') };
  }

  /**
   * The backups that jobs make or put back, by their id. Those that are deleted are not among them, and neither are those of installs
   * that the caller does not see: an install may have been given the website of another.
   */
  async function backupsOf(
    caller: Caller,
    jobs: readonly ListedJob[],
  ): Promise<Map<string, NonNullable<Operation['backup']>>> {
    const ids = jobs.map(backupIdOf).filter((id) => id !== null);
    if (ids.length === 0) return new Map();
    const scope = await loadScope(reader, caller);
    const rows = await reader
      .selectFrom('backups as backup')
      .innerJoin('installs as install', 'install.id', 'backup.install_id')
      .select(['backup.id', 'backup.description', 'backup.created_at'])
      .where('backup.id', 'in', ids)
      .where((eb) => inScope(eb, scope))
      .execute();
    return new Map(rows.map(({ id, ...backup }) => [id, backup]));
  }

  /** Websites of files keep no objects, and not every platform has a CDN in front. */
  const absent = { page: false, object: config.host !== 'linux', cdn: config.cdnZone === null };
  const caches = CACHE_KINDS.filter((kind) => !absent[kind]);

  return {
    /** What is being done to an install and was done of late, the latest first. Throws NotFound. */
    async list(
      caller: Caller,
      installId: string,
    ): Promise<{ results: Operation[]; next: NextTurns; caches: CacheKind[] }> {
      authorize('install.read', 'install.read', await findStanding(reader, caller, installId));
      // What finishes between the two is in both; the later look at it counts.
      const unfinished = await latest(installId, UNFINISHED);
      const [finished, next] = await Promise.all([latest(installId, FINISHED), nextTurns(installId)]);
      const jobs = new Map([...unfinished, ...finished].map((job) => [job.seq, job]));
      const newest = [...jobs.values()].sort((one, other) => other.seq - one.seq).slice(0, MOST_OPERATIONS);
      const backups = await backupsOf(caller, newest);
      const results = newest.map(({ seq, payload, ...operation }) => {
        const job = { kind: operation.kind, payload };
        const backup = backups.get(backupIdOf(job) ?? '') ?? null;
        return Value.Parse(operationSchema, { ...operation, cache: cacheOf(job), backup });
      });
      return { results, next, caches };
    },

    /** What a new install can be given. */
    async options(): Promise<{ php_versions: string[]; site_domain: string }> {
      const offers = config.host === 'linux' ? await loadOffers(reader) : null;
      return { php_versions: offers?.phpVersions ?? [], site_domain: config.siteDomain };
    },
  };
}

interface ListedJob {
  kind: string;
  payload: unknown;
}

/** What of the install an operation empties, as its job was told; null of all that empty nothing. */
function cacheOf({ kind, payload }: ListedJob): Operation['cache'] {
  return kind === purgeCache.name ? Value.Parse(purgeCache.payload, payload).cache : null;
}

/** Which backup an operation makes or puts back; null of all others. */
function backupIdOf({ kind, payload }: ListedJob): string | null {
  for (const type of [createBackup, restoreBackup]) {
    if (kind === type.name) return Value.Parse(type.payload, payload).backup_id;
  }
  return null;
}
