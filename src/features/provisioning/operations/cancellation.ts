import { Value } from 'typebox/value';
import type { Verb } from '../../../access/permissions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import type { JobState } from '../../../database/tables/jobs.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { createArchiveFinisher } from '../../backups/archives/finish-archive.ts';
import { createBackupFinisher } from '../../backups/finish-backup.ts';
import { enqueueSettlement } from '../../backups/imports/job-kinds.ts';
import {
  adoptWebsiteCopy,
  changeWordPressItem,
  copyInstall,
  createArchive,
  createBackup,
  importWebsite,
  prepareCopy,
  restoreBackup,
} from '../../backups/jobs.ts';
import { checkDomain } from '../../domains/status-reports/jobs.ts';
import { completeUnchecked } from '../../domains/status-reports/unchecked.ts';
import { planUpdate, updateWebsite } from '../../updates/jobs.ts';
import { endUpdate } from '../../updates/store.ts';
import { purgeCache } from '../../websites/caches/jobs.ts';
import { switchWordpress, updatePhp } from '../../websites/installs/jobs.ts';
import { configureOffload } from '../../websites/offload/jobs.ts';
import { endOffloadRequest } from '../../websites/offload/requests.ts';
import { restartPhp, updatePhpLimits } from '../../websites/php/jobs.ts';
import { refreshWordPress } from '../../websites/wordpress/jobs.ts';
import { runWpCli } from '../../websites/wp-cli/jobs.ts';
import { endRun } from '../../websites/wp-cli/store.ts';
import { moveInstall } from '../moves/jobs.ts';
import { endCancelledMove } from '../moves/requests.ts';

/** How operations of one type of job are cancelled. */
interface Cancellation {
  /** `running`: not while it runs. `begun`: not once an attempt has begun, even if it waits for the next. */
  until: 'begun' | 'running' | 'ended';
  /** The permission of the action. */
  verb: Verb;
  /** Only operators of the platform may. */
  needsOperator?: true;
  /** Makes the cancellation possible, also that of a running job. Throws Conflict if it comes too late. */
  begin?: (transaction: Transaction, payload: unknown) => Promise<void>;
  /** Ends what waits for the job, in the transaction that cancels it. */
  end?: (transaction: Transaction, payload: unknown) => Promise<void>;
}

/** The facts that decide whether a job can be cancelled. */
interface CancellableJob {
  kind: string;
  state: JobState;
  /** When its latest attempt began. */
  started_at: string | null;
}

export type Cancellations = ReturnType<typeof createCancellations>;

/**
 * The operations that users can cancel (docs/decisions/api.md). Creating, applying and deleting websites are left
 * out: the platform would have to start them again to reach the desired state.
 */
export function createCancellations(platform: Platform) {
  const finishBackup = createBackupFinisher(platform);
  const finishArchive = createArchiveFinisher(platform);
  const table: Record<string, Cancellation> = {
    [createBackup.name]: {
      until: 'ended',
      verb: 'install.work',
      end: (transaction, payload) =>
        finishBackup(transaction, Value.Parse(createBackup.payload, payload).backup_id, {
          status: 'aborted',
          reason: 'The backup was cancelled.',
        }),
    },
    [createArchive.name]: {
      until: 'ended',
      verb: 'install.work',
      end: (transaction, payload) =>
        finishArchive(transaction, Value.Parse(createArchive.payload, payload).archive_id, {
          state: 'aborted',
          reason: 'The archive was cancelled.',
        }),
    },
    // The website stays as it is. The backup that was made for a copy is deleted by the next maintenance.
    [adoptWebsiteCopy.name]: { until: 'ended', verb: 'install.work' },
    [restoreBackup.name]: { until: 'ended', verb: 'install.work' },
    [prepareCopy.name]: { until: 'ended', verb: 'install.work' },
    [copyInstall.name]: { until: 'ended', verb: 'install.work' },
    [refreshWordPress.name]: { until: 'ended', verb: 'install.work' },
    [importWebsite.name]: {
      until: 'ended',
      verb: 'install.work',
      // It may have replaced the website already, and have been about to check it.
      end: (transaction, payload) =>
        enqueueSettlement(platform, transaction, Value.Parse(importWebsite.payload, payload)),
    },
    [purgeCache.name]: { until: 'running', verb: 'install.work' },
    [configureOffload.name]: {
      until: 'ended',
      verb: 'install.work',
      end: (transaction, payload) =>
        endOffloadRequest(transaction, Value.Parse(configureOffload.payload, payload), {
          reason: 'The change was cancelled. The previous settings stay active.',
          now: timestamp(platform.clock),
        }),
    },
    [checkDomain.name]: {
      until: 'ended',
      verb: 'install.work',
      end: ({ queries }, payload) =>
        completeUnchecked(queries, Value.Parse(checkDomain.payload, payload).report_id, 'was cancelled'),
    },
    // Once an attempt has begun, the website can be half changed.
    [changeWordPressItem.name]: { until: 'begun', verb: 'install.work' },
    [switchWordpress.name]: { until: 'running', verb: 'install.change' },
    [updatePhp.name]: { until: 'running', verb: 'install.change' },
    [planUpdate.name]: {
      until: 'ended',
      verb: 'install.work',
      end: ({ queries }, payload) => cancelUpdate(queries, Value.Parse(planUpdate.payload, payload)),
    },
    // Once an attempt has begun, the website can be half updated.
    [updateWebsite.name]: {
      until: 'begun',
      verb: 'install.work',
      end: ({ queries }, payload) => cancelUpdate(queries, Value.Parse(updateWebsite.payload, payload)),
    },
    [updatePhpLimits.name]: { until: 'running', verb: 'install.change' },
    [moveInstall.name]: {
      until: 'ended',
      verb: 'install.read',
      needsOperator: true,
      begin: (transaction, payload) =>
        endCancelledMove(platform, transaction, Value.Parse(moveInstall.payload, payload).move_id),
    },
    [restartPhp.name]: { until: 'running', verb: 'install.work' },
    [runWpCli.name]: {
      until: 'ended',
      verb: 'install.work',
      end: ({ queries }, payload) =>
        endRun(queries, Value.Parse(runWpCli.payload, payload).run_id, timestamp(platform.clock)),
    },
  };

  async function cancelUpdate(queries: Queries, { update_id }: { update_id: string }): Promise<void> {
    await endUpdate(queries, update_id, { status: 'cancelled', finished_at: timestamp(platform.clock) });
  }

  /** The way to cancel a job in this state; null if it cannot be cancelled. */
  function of({ kind, state, started_at }: CancellableJob): Cancellation | null {
    const found = table[kind];
    if (found === undefined || (state !== 'queued' && state !== 'running')) return null;
    if (found.until === 'begun' && started_at !== null) return null;
    return state === 'running' && found.until !== 'ended' ? null : found;
  }

  return {
    of,

    /** Whether a job waits whose kind can be cancelled only before its first attempt. */
    hasBegun: ({ kind, state, started_at }: CancellableJob): boolean =>
      state === 'queued' && started_at !== null && table[kind]?.until === 'begun',

    /** Ends what waits for a cancelled job. Call it in the transaction that cancels the job. */
    async end(transaction: Transaction, job: { kind: string; payload: unknown }): Promise<void> {
      await table[job.kind]?.end?.(transaction, job.payload);
    },
  };
}
