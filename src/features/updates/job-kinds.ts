import { PLATFORM } from '../../access/caller.ts';
import type { Transaction } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import type { Host } from '../../hosting/contract/host.ts';
import type {
  AvailableUpdate,
  RolledBack,
  SkippedUpdate,
  UpdateOutcome,
} from '../../hosting/contract/wordpress-updates.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../jobs/job.ts';
import { setResult } from '../../jobs/operations-store.ts';
import { timestamp } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { parseErrorCode } from '../../lib/operation.ts';
import type { Platform } from '../../platform/platform.ts';
import { putCheckpointBack } from '../backups/checkpoints.ts';
import { requireFormerState } from '../backups/former-state-store.ts';
import { createBackup } from '../backups/jobs.ts';
import { findBackup, insertBackup } from '../backups/store.ts';
import { permanently, postponing } from '../hosts/host-failures.ts';
import { findActiveInstall, findWebsite, setWordpressVersion } from '../websites/installs/website-store.ts';
import { requestReading } from '../websites/wordpress/request-reading.ts';
import { planUpdate, updateWebsite } from './jobs.ts';
import { mailOwnersOfRollback } from './mails.ts';
import { findPolicy } from './policy-store.ts';
import {
  endUpdate,
  findUpdate,
  itemKey,
  noteBegun,
  noteRestored,
  rolledBackItems,
  runUpdate,
  type StoredUpdate,
  type UpdateEnd,
} from './store.ts';

/** A restore of an older one would lose too much. */
const OLDEST_CHECKPOINT_MS = HOUR_MS;
const OPERATION = 'wordpress.update';
const GONE = 'The install has no website to update.';

/** The jobs that update websites. */
export function updateJobKinds(platform: Platform, host: Host): JobKind[] {
  const { database, queue, clock, random, activity } = platform;
  const { reader } = database;

  const end = (transaction: Transaction, id: string, outcome: Omit<UpdateEnd, 'finished_at'>) =>
    endUpdate(transaction.queries, id, { ...outcome, finished_at: timestamp(clock) });

  /** The schedule leaves out what was rolled back before, until there is a later version. */
  async function withoutRolledBack(
    { cause, install_id }: StoredUpdate,
    updates: readonly AvailableUpdate[],
  ): Promise<AvailableUpdate[]> {
    if (cause !== 'schedule') return [...updates];
    const known = await rolledBackItems(reader, install_id);
    return updates.filter((update) => !known.has(itemKey(update)));
  }

  /** Requests a checkpoint and the updates after it. */
  async function begin(
    transaction: Transaction,
    update: StoredUpdate,
    updates: AvailableUpdate[],
    { id: jobId, requestId, keep }: { id: string; requestId: string | null; keep: boolean },
  ): Promise<void> {
    const { queries } = transaction;
    const { install_id } = update;
    // The install may have been deleted since.
    if (!(await lockRow(transaction, 'installs', install_id))) return;
    const checkpoint_id = random.uuid();
    if (!(await runUpdate(queries, update.id, checkpoint_id))) return;
    await insertBackup(queries, {
      id: checkpoint_id,
      install_id,
      description: 'Checkpoint before an update',
      notification_emails: [],
      requested_by: null,
      scheduled: false,
      checkpoint: true,
      created_at: timestamp(clock),
    });
    await queue.enqueue(transaction, createBackup, {
      payload: { backup_id: checkpoint_id, install_id },
      lane: install_id,
      requestId,
      result: { backup_id: checkpoint_id },
    });
    await queue.enqueue(transaction, updateWebsite, {
      payload: { update_id: update.id, install_id, checkpoint_id, updates, ...(keep ? { keep } : {}) },
      lane: install_id,
      requestId,
      continues: jobId,
    });
    if (update.cause === 'request') return;
    const website = await findWebsite(queries, { id: install_id });
    if (!website) return;
    await activity.record(transaction, PLATFORM, website.account_id, {
      action: 'install.update_wordpress',
      subject: { id: install_id, name: website.name },
      installId: install_id,
      details: detailsOf(updates),
    });
  }

  async function conclude(
    transaction: Transaction,
    { id, install_id }: StoredUpdate,
    { wordpressVersion, restored }: UpdateOutcome,
    outcome: Pick<UpdateEnd, 'status' | 'made' | 'broken' | 'reason' | 'reason_code'>,
  ): Promise<void> {
    await end(transaction, id, { ...outcome, restored });
    await setWordpressVersion(transaction.queries, install_id, wordpressVersion);
    // The page of the install offers what was updated until then.
    await requestReading(transaction, queue, install_id, { check: true, delayMs: 0 });
  }

  /** Outside the fence: the rollback has happened, whatever becomes of this attempt. */
  async function noteRollback(
    update: StoredUpdate,
    outcome: UpdateOutcome,
    { update: broken, reason: cause, mayKeep = false }: RolledBack,
  ): Promise<PermanentFailure> {
    const reason = describeRollback(broken, cause);
    const code = mayKeep ? 'pages_differ' : 'rolled_back';
    const ended = { status: 'rolled_back', broken, reason, reason_code: code } as const;
    await database.write(async (transaction) => {
      await conclude(transaction, update, outcome, ended);
      if (update.cause === 'schedule')
        await mailOwnersOfRollback(platform, transaction, { ...update, reason });
    });
    return new PermanentFailure(reason, { code });
  }

  /** Likewise outside the fence. The updates that were made stay. */
  async function noteSkipped(update: StoredUpdate, outcome: UpdateOutcome): Promise<PermanentFailure> {
    const reason = describeSkipped(outcome);
    const ended = { status: 'failed', made: outcome.made, reason, reason_code: 'failed' } as const;
    await database.write((transaction) => conclude(transaction, update, outcome, ended));
    return new PermanentFailure(reason, { code: ended.reason_code });
  }

  /** The checkpoint of an update that has not begun must be new: a restore loses what happened since. */
  async function requireCheckpoint(update: StoredUpdate, checkpointId: string): Promise<void> {
    const checkpoint = await findBackup(reader, update.install_id, checkpointId);
    if (checkpoint?.status !== 'completed') {
      throw new PermanentFailure(
        'The checkpoint could not be made, so nothing was updated. The list of backups says why.',
        { code: 'checkpoint_failed' },
      );
    }
    const finished = Date.parse(checkpoint.finished_at ?? checkpoint.created_at);
    if (update.begun_at === null && clock.now().getTime() - finished > OLDEST_CHECKPOINT_MS) {
      throw new PermanentFailure(
        'The update could not begin within an hour of its checkpoint, so nothing was updated. Update again.',
      );
    }
  }

  return [
    defineJob({
      ...planUpdate,
      async run({ update_id, install_id, keep = false }, job) {
        const update = await findUpdate(reader, update_id);
        if (update?.status !== 'requested') return;
        const install = await findActiveInstall(reader, install_id);
        if (!install) throw new PermanentFailure(GONE, { code: 'website_missing' });
        await requireFormerState(reader, install_id, job.id);
        const plan = await permanently(postponing(host.planUpdates(install, update.wanted, job.signal)));
        if (plan.refused.length > 0 && update.cause === 'request') {
          throw new PermanentFailure(`Nothing was updated. ${plan.refused.slice(0, 3).join('. ')}.`, {
            code: 'host_refused',
          });
        }
        const updates = await withoutRolledBack(update, plan.updates);
        return async (transaction) => {
          if (updates.length > 0) return begin(transaction, update, updates, { ...job, keep });
          await end(transaction, update_id, { status: 'unnecessary' });
          await setResult(transaction.queries, job.id, OPERATION, {});
        };
      },
      async giveUp({ update_id }, { reason, code }, transaction) {
        await end(transaction, update_id, { status: 'failed', reason, reason_code: code });
      },
    }),
    defineJob({
      ...updateWebsite,
      async run({ update_id, install_id, checkpoint_id, updates, keep = false }, { id: jobId, signal, log }) {
        const update = await findUpdate(reader, update_id);
        // An earlier attempt noted its outcome outside the fence, and its worker died before the job ended.
        if (update?.status === 'rolled_back' || update?.status === 'failed') throw notedFailure(update);
        if (update?.status !== 'running') return;
        const install = await findActiveInstall(reader, install_id);
        if (!install) throw new PermanentFailure(GONE, { code: 'website_missing' });
        if (update.begun_at === null) await requireFormerState(reader, install_id, jobId);
        await requireCheckpoint(update, checkpoint_id);
        const { pages } = await findPolicy(reader, install_id);
        const order = { updateId: update_id, checkpointId: checkpoint_id, updates, pages, keep };
        // Outside the fence: the host changes the website, whatever becomes of this attempt.
        let begun: Promise<void> | undefined;
        const report = () => {
          if (begun !== undefined) return;
          begun = database.write(({ queries }) => noteBegun(queries, update_id, timestamp(clock)));
          // Awaited below.
          begun.catch(() => {});
        };
        let outcome: UpdateOutcome;
        try {
          outcome = await permanently(postponing(host.updateWordpress(install, order, signal, report)));
        } finally {
          await begun;
        }
        const { rolledBack, made } = outcome;
        if (rolledBack !== null) {
          log.warn({ update: rolledBack.update }, 'an update was rolled back');
          throw await noteRollback(update, outcome, rolledBack);
        }
        if (outcome.skipped.length > 0) throw await noteSkipped(update, outcome);
        return async (transaction) => {
          await conclude(transaction, update, outcome, { status: 'succeeded', made });
          await setResult(transaction.queries, jobId, OPERATION, resultOf(outcome, checkpoint_id));
        };
      },
      async giveUp({ update_id, install_id, checkpoint_id, updates }, { reason, code }, transaction) {
        const before = await end(transaction, update_id, { status: 'failed', reason, reason_code: code });
        // Otherwise the website is unchanged, and a restore would lose what happened since the checkpoint.
        if (before?.status !== 'running' || before.begun_at === null) return;
        // The website may be half updated, and the host could not restore the checkpoint itself.
        const core = updates.find(({ kind }) => kind === 'core');
        const isPutBack = await putCheckpointBack(platform, transaction, {
          ...{ install_id, checkpoint_id },
          ...(core === undefined ? {} : { wordpress_version: core.from }),
        });
        if (isPutBack) await noteRestored(transaction.queries, update_id);
      },
    }),
  ];
}

function notedFailure({ status, reason, reason_code }: StoredUpdate): PermanentFailure {
  const usual = status === 'rolled_back' ? 'rolled_back' : 'failed';
  return new PermanentFailure(reason ?? 'The update did not succeed.', {
    code: reason_code === null ? usual : parseErrorCode(reason_code),
  });
}

/** Why an update was rolled back, one sentence. */
export function describeRollback(broken: AvailableUpdate | null, reason: string): string {
  const what =
    broken === null ? 'The update' : `The update of ${broken.name} from ${broken.from} to ${broken.to}`;
  return `${what} was rolled back: ${reason}.`;
}

/** Why updates were skipped, and what became of the others and of the pages. */
export function describeSkipped({
  made,
  skipped,
  warning,
}: Pick<UpdateOutcome, 'made' | 'skipped' | 'warning'>): string {
  const [first, ...others] = skipped.map(
    ({ update: { name, from, to }, reason }: SkippedUpdate) =>
      `${name} was not updated from ${from} to ${to}: ${reason}.`,
  );
  const more =
    others.length === 0
      ? []
      : [`${others.length} more ${others.length === 1 ? 'update was' : 'updates were'} not made.`];
  const rest =
    made.length === 0
      ? 'The website is unchanged.'
      : `${made.length} ${made.length === 1 ? 'update was' : 'updates were'} made.`;
  const kept = warning === undefined ? [] : [`A page looks different: ${warning.replace(/\.$/, '')}.`];
  return [first, ...more, rest, ...kept].join(' ');
}

function detailsOf(updates: readonly AvailableUpdate[]): Record<string, string> {
  const named = (kind: AvailableUpdate['kind']) =>
    updates.flatMap((update) => (update.kind === kind ? [`${update.name} ${update.to}`] : []));
  const [core] = updates.filter(({ kind }) => kind === 'core');
  return {
    ...(core === undefined ? {} : { core: core.to }),
    ...(named('plugin').length === 0 ? {} : { plugins: named('plugin').join(', ').slice(0, 500) }),
    ...(named('theme').length === 0 ? {} : { themes: named('theme').join(', ').slice(0, 500) }),
  };
}

function resultOf(
  { made, restored, warning }: Pick<UpdateOutcome, 'made' | 'restored' | 'warning'>,
  checkpointId: string,
): Record<string, string> {
  const count = (kind: AvailableUpdate['kind']) => made.filter((update) => update.kind === kind).length;
  const core = made.find(({ kind }) => kind === 'core');
  return {
    ...(core === undefined ? {} : { version: core.to }),
    ...(count('plugin') === 0 ? {} : { plugins: String(count('plugin')) }),
    ...(count('theme') === 0 ? {} : { themes: String(count('theme')) }),
    checkpoint_id: checkpointId,
    ...(restored ? { restored: 'true' } : {}),
    ...(warning === undefined ? {} : { warning }),
  };
}
