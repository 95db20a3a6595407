import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Caller } from '../../../access/caller.ts';
import { loadScope } from '../../../access/memberships.ts';
import { authorize, isAllowed } from '../../../access/permissions.ts';
import type { BackupStatus } from '../../../database/tables/backups.ts';
import type { JobState } from '../../../database/tables/jobs.ts';
import { CACHE_KINDS, type CacheKind } from '../../../hosting/contract/host.ts';
import type { Runtime } from '../../../hosting/contract/install-state.ts';
import { offeredBy } from '../../../hosting/policy/capabilities.ts';
import { timestamp } from '../../../lib/clock.ts';
import { OPERATION_KINDS } from '../../../lib/operation.ts';
import type { Platform } from '../../../platform/platform.ts';
import { copyInstall, createArchive, createBackup, prepareCopy, restoreBackup } from '../../backups/jobs.ts';
import { orderCertificate } from '../../domains/certificates/jobs.ts';
import { loadInstallOptions } from '../../hosts/install-options.ts';
import { purgeCache } from '../../websites/caches/jobs.ts';
import type { AskForWordPress } from '../../websites/installs/offered-options.ts';
import { heldOperations } from '../../websites/installs/operation-limits-store.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import type { Cancellations } from './cancellation.ts';
import {
  findBackupsOfJobs,
  findDomainsOfJobs,
  latestOperations,
  namesOfInstalls,
  statusesOfBackups,
} from './install-operations-store.ts';
import { presentOperation } from './present.ts';
import type { Retries } from './retries.ts';
import type { installOperationSchema } from './schema.ts';

export type InstallOperation = Static<typeof installOperationSchema>;

/** The earliest time of the next rate-limited operation; null: now. */
export interface NextTurns {
  purge_object: string | null;
  check_status: string | null;
  verify_domain: string | null;
  order_certificate: string | null;
}

export type InstallOperationService = ReturnType<typeof createInstallOperationService>;

const MOST_OPERATIONS = 50;

/** The kinds in the portal's list. Checks are shown with their domains. */
const LISTED_KINDS = OPERATION_KINDS.filter((kind) => kind !== 'domain.check' && kind !== 'install.delete');

export function createInstallOperationService(
  { config, database, clock }: Platform,
  { cancellations, retries }: { cancellations: Cancellations; retries: Retries },
  wordpressHere: AskForWordPress,
) {
  const { reader } = database;

  const latest = (install: { id: string; account_id: string }, states: 'unfinished' | 'finished') =>
    latestOperations(reader, install, states, { kinds: LISTED_KINDS, limit: MOST_OPERATIONS });

  async function nextTurns(installId: string): Promise<NextTurns> {
    const held = await heldOperations(reader, installId, timestamp(clock));
    const next = (operation: keyof NextTurns) =>
      held.find((limit) => limit.operation === operation)?.next_at ?? null;
    return {
      purge_object: next('purge_object'),
      check_status: next('check_status'),
      verify_domain: next('verify_domain'),
      order_certificate: next('order_certificate'),
    };
  }

  /**
   * The backups that jobs create, restore or pack, by id. Deleted backups are left out, and so are backups of installs hidden
   * from the caller, whose website may have been restored here.
   */
  async function backupsOf(
    caller: Caller,
    jobs: readonly ListedJob[],
  ): Promise<Map<string, NonNullable<InstallOperation['backup']>>> {
    const ids = jobs.map(backupIdOf).filter((id) => id !== null);
    if (ids.length === 0) return new Map();
    const scope = await loadScope(reader, caller);
    const rows = await findBackupsOfJobs(reader, scope, ids);
    return new Map(rows.map((backup) => [backup.id, backup]));
  }

  /** The domains of an install that certificates are ordered for, by id. Deleted domains are left out. */
  async function domainsOf(
    installId: string,
    jobs: readonly ListedJob[],
  ): Promise<Map<string, NonNullable<InstallOperation['domain']>>> {
    const ids = jobs.map(domainIdOf).filter((id) => id !== null);
    if (ids.length === 0) return new Map();
    const rows = await findDomainsOfJobs(reader, installId, ids);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** The progress of copies, by job id. The source's name is given only if the caller sees that install. */
  async function copiesOf(
    caller: Caller,
    jobs: readonly ListedJob[],
  ): Promise<Map<string, NonNullable<InstallOperation['copy']>>> {
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

  /** Not every kind of host has an object cache, and not every platform has a CDN. */
  const hasObjects = offeredBy(config.host).includes('object_cache');
  const absent = { page: false, object: !hasObjects, cdn: config.cdnZone === null };
  const caches = CACHE_KINDS.filter((kind) => !absent[kind]);

  return {
    /** Operations of an install, in progress and recent, latest first. Throws NotFound. */
    async list(
      caller: Caller,
      installId: string,
    ): Promise<{ results: InstallOperation[]; next: NextTurns; caches: CacheKind[] }> {
      const install = await findInstallAccess(reader, caller, installId);
      authorize('install.read', 'install.read', install);
      // A job that finishes between the two queries is in both results; the later one counts.
      const unfinished = await latest(install, 'unfinished');
      const [finished, next] = await Promise.all([latest(install, 'finished'), nextTurns(installId)]);
      const found = new Map([...unfinished, ...finished].map((record) => [record.seq, record]));
      const newest = [...found.values()].sort((one, other) => other.seq - one.seq).slice(0, MOST_OPERATIONS);
      const jobs = newest.map(({ id, job_kind, state, payload }) => ({ id, kind: job_kind, state, payload }));
      const [backups, copies, domains] = await Promise.all([
        backupsOf(caller, jobs),
        copiesOf(caller, jobs),
        domainsOf(installId, jobs),
      ]);
      const isReadOnly = caller.limits?.readOnly === true;
      // A later operation of the same kind shows what became of the work.
      const newestOf = new Map(newest.toReversed().map(({ id, kind }) => [kind, id]));
      const mayRetry = ({ id, kind, job_kind, payload }: (typeof newest)[number]): boolean => {
        const retry = retries.of({ kind: job_kind, payload });
        return retry !== null && newestOf.get(kind) === id && isAllowed(retry.verb, install);
      };
      const results = newest.map((record): InstallOperation => {
        const job = { kind: record.job_kind, payload: record.payload };
        const cancellation = cancellations.of({
          kind: record.job_kind,
          state: record.state,
          started_at: record.started_at,
        });
        return {
          ...presentOperation(record),
          attempt: record.attempt,
          cancellable: !isReadOnly && cancellation !== null && isAllowed(cancellation.verb, install),
          retryable: !isReadOnly && record.status === 'failed' && mayRetry(record),
          ...purgeOf(job),
          backup: backups.get(backupIdOf(job) ?? '') ?? null,
          domain: domains.get(domainIdOf(job) ?? '') ?? null,
          copy: copies.get(record.id) ?? null,
        };
      });
      return { results, next, caches };
    },

    /** The options of a new install. */
    async options(): Promise<{ php_versions: string[]; runtimes: Runtime[]; site_domain: string }> {
      const { siteDomain: site_domain } = config;
      if (config.host === 'linux') {
        const { phpVersions } = await loadInstallOptions(reader);
        return { php_versions: phpVersions, runtimes: ['wordpress'], site_domain };
      }
      const here = await wordpressHere();
      if ('reason' in here) return { php_versions: [], runtimes: ['static'], site_domain };
      const runtimes: Runtime[] =
        config.installRuntime === 'static' ? ['static', 'wordpress'] : ['wordpress', 'static'];
      return { php_versions: [], runtimes, site_domain };
    },
  };
}

interface ListedJob {
  id: string;
  kind: string;
  state: JobState;
  payload: unknown;
}

/** The cache and the pages that an operation purges, from its payload; null for other operations. */
function purgeOf({
  kind,
  payload,
}: Pick<ListedJob, 'kind' | 'payload'>): Pick<InstallOperation, 'cache' | 'pages'> {
  if (kind !== purgeCache.name) return { cache: null, pages: null };
  const { cache, paths } = Value.Parse(purgeCache.payload, payload);
  const first = paths?.[0];
  return { cache, pages: paths && first !== undefined ? { count: paths.length, first } : null };
}

/** The backup that an operation creates, restores or packs; null for other operations. */
function backupIdOf({ kind, payload }: Pick<ListedJob, 'kind' | 'payload'>): string | null {
  for (const type of [createBackup, restoreBackup, createArchive]) {
    if (kind === type.name) return Value.Parse(type.payload, payload).backup_id;
  }
  return null;
}

/** The domain that a user ordered a certificate for; null for other operations. */
function domainIdOf({ kind, payload }: Pick<ListedJob, 'kind' | 'payload'>): string | null {
  return kind === orderCertificate.name ? Value.Parse(orderCertificate.payload, payload).domain_id : null;
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
): NonNullable<InstallOperation['copy']>['step'] {
  if (state !== 'queued' && state !== 'running') return null;
  if (backup === 'in_progress') return 'backing_up';
  return kind === copyInstall.name && state === 'running' ? 'restoring' : 'waiting';
}
