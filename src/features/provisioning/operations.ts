import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Caller } from '../../access/caller.ts';
import { loadScope } from '../../access/memberships.ts';
import { authorize } from '../../access/permissions.ts';
import type { BackupStatus } from '../../database/tables/backups.ts';
import type { JobState } from '../../database/tables/jobs.ts';
import { CACHE_KINDS, type CacheKind } from '../../hosting/contract/host.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Platform } from '../../platform/platform.ts';
import { copyInstall, createBackup, prepareCopy, restoreBackup } from '../backups/jobs.ts';
import { loadInstallOptions } from '../hosts/install-options.ts';
import { purgeCache } from '../websites/caches/jobs.ts';
import { heldOperations } from '../websites/installs/operation-limits-store.ts';
import { findInstallAccess } from '../websites/installs/store.ts';
import { findBackupsOfJobs, latestJobs, namesOfInstalls, statusesOfBackups } from './operations-store.ts';
import { OPERATION_KINDS, operationSchema } from './schema.ts';

export type Operation = Static<typeof operationSchema>;

/** The earliest time of the next rate-limited operation; null: now. */
export interface NextTurns {
  purge_object: string | null;
  check_status: string | null;
  verify_domain: string | null;
}

export type OperationsService = ReturnType<typeof createOperationsService>;

const MOST_OPERATIONS = 50;

export function createOperationsService({ config, database, clock }: Platform) {
  const { reader } = database;

  const latest = (installId: string, states: 'unfinished' | 'finished') =>
    latestJobs(reader, installId, states, {
      kinds: [...OPERATION_KINDS, prepareCopy.name],
      limit: MOST_OPERATIONS,
    });

  async function nextTurns(installId: string): Promise<NextTurns> {
    const held = await heldOperations(reader, installId, timestamp(clock));
    const next = (operation: keyof NextTurns) =>
      held.find((limit) => limit.operation === operation)?.next_at ?? null;
    return {
      purge_object: next('purge_object'),
      check_status: next('check_status'),
      verify_domain: next('verify_domain'),
    };
  }

  /**
   * The backups that jobs create or restore, by id. Deleted backups are left out, and so are backups of installs hidden
   * from the caller, whose website may have been restored here.
   */
  async function backupsOf(
    caller: Caller,
    jobs: readonly ListedJob[],
  ): Promise<Map<string, NonNullable<Operation['backup']>>> {
    const ids = jobs.map(backupIdOf).filter((id) => id !== null);
    if (ids.length === 0) return new Map();
    const scope = await loadScope(reader, caller);
    const rows = await findBackupsOfJobs(reader, scope, ids);
    return new Map(rows.map(({ id, ...backup }) => [id, backup]));
  }

  /** The progress of copies, by job id. The source's name is given only if the caller sees that install. */
  async function copiesOf(
    caller: Caller,
    jobs: readonly ListedJob[],
  ): Promise<Map<string, NonNullable<Operation['copy']>>> {
    const copies = jobs.flatMap((job) => (isCopy(job) ? [copyOf(job)] : []));
    if (copies.length === 0) return new Map();
    const [statuses, names] = await Promise.all([
      statusesOfBackups(
        reader,
        copies.map(({ backupId }) => backupId),
      ),
      namesOfInstalls(
        reader,
        await loadScope(reader, caller),
        copies.map(({ fromId }) => fromId),
      ),
    ]);
    return new Map(
      copies.map(({ id, kind, state, backupId, fromId }) => [
        id,
        { from: names.get(fromId) ?? null, step: stepOf(kind, state, statuses.get(backupId)) },
      ]),
    );
  }

  /** File websites have no object cache, and not every platform has a CDN. */
  const absent = { page: false, object: config.host !== 'linux', cdn: config.cdnZone === null };
  const caches = CACHE_KINDS.filter((kind) => !absent[kind]);

  return {
    /** Operations of an install, in progress and recent, latest first. Throws NotFound. */
    async list(
      caller: Caller,
      installId: string,
    ): Promise<{ results: Operation[]; next: NextTurns; caches: CacheKind[] }> {
      authorize('install.read', 'install.read', await findInstallAccess(reader, caller, installId));
      // A job that finishes between the two queries is in both results; the later one counts.
      const unfinished = await latest(installId, 'unfinished');
      const [finished, next] = await Promise.all([latest(installId, 'finished'), nextTurns(installId)]);
      const jobs = new Map([...unfinished, ...finished].map((job) => [job.seq, job]));
      const newest = [...jobs.values()].sort((one, other) => other.seq - one.seq).slice(0, MOST_OPERATIONS);
      const [backups, copies] = await Promise.all([backupsOf(caller, newest), copiesOf(caller, newest)]);
      const results = newest.map(({ seq, payload, ...operation }) => {
        const job = { kind: operation.kind, payload };
        const backup = backups.get(backupIdOf(job) ?? '') ?? null;
        const copy = copies.get(operation.id) ?? null;
        // Users see one operation, whichever of its jobs runs.
        const kind = isCopy(job) ? copyInstall.name : operation.kind;
        return Value.Parse(operationSchema, { ...operation, kind, cache: cacheOf(job), backup, copy });
      });
      return { results, next, caches };
    },

    /** The options of a new install. */
    async options(): Promise<{ php_versions: string[]; site_domain: string }> {
      const offers = config.host === 'linux' ? await loadInstallOptions(reader) : null;
      return { php_versions: offers?.phpVersions ?? [], site_domain: config.siteDomain };
    },
  };
}

interface ListedJob {
  id: string;
  kind: string;
  state: JobState;
  payload: unknown;
}

/** The cache that an operation purges, from its payload; null for other operations. */
function cacheOf({ kind, payload }: Pick<ListedJob, 'kind' | 'payload'>): Operation['cache'] {
  return kind === purgeCache.name ? Value.Parse(purgeCache.payload, payload).cache : null;
}

/** The backup that an operation creates or restores; null for other operations. */
function backupIdOf({ kind, payload }: Pick<ListedJob, 'kind' | 'payload'>): string | null {
  for (const type of [createBackup, restoreBackup]) {
    if (kind === type.name) return Value.Parse(type.payload, payload).backup_id;
  }
  return null;
}

const isCopy = ({ kind }: Pick<ListedJob, 'kind'>) => kind === prepareCopy.name || kind === copyInstall.name;

/** The payload of a job that copies an install. */
function copyOf({ id, kind, state, payload }: ListedJob) {
  const { backup_id, from_id } = Value.Parse(copyInstall.payload, payload);
  return { id, kind, state, backupId: backup_id, fromId: from_id };
}

/** The step of a copy. After its backup is complete, the copy may still wait for its turn. */
function stepOf(
  kind: string,
  state: JobState,
  backup: BackupStatus | undefined,
): NonNullable<Operation['copy']>['step'] {
  if (state !== 'queued' && state !== 'running') return null;
  if (backup === 'in_progress') return 'backing_up';
  return kind === copyInstall.name && state === 'running' ? 'restoring' : 'waiting';
}
