import { PLATFORM } from '../../access/caller.ts';
import type { Transaction } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import type { Host } from '../../hosting/contract/host.ts';
import type { AvailableUpdate, UpdateOutcome } from '../../hosting/contract/wordpress-updates.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../jobs/job.ts';
import { setResult } from '../../jobs/operations-store.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Platform } from '../../platform/platform.ts';
import { putCheckpointBack } from '../backups/checkpoints.ts';
import { createBackup } from '../backups/jobs.ts';
import { findBackup, insertBackup } from '../backups/store.ts';
import { permanently, postponing } from '../hosts/host-failures.ts';
import { findActiveInstall, findWebsite, setWordpressVersion } from '../websites/installs/website-store.ts';
import { requestReading } from '../websites/wordpress/request-reading.ts';
import { planUpdate, updateWebsite } from './jobs.ts';
import { findPolicy } from './policy-store.ts';
import {
  beginUpdate,
  endUpdate,
  findUpdate,
  itemKey,
  rolledBackItems,
  type StoredUpdate,
  type UpdateEnd,
} from './store.ts';

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
    { id: jobId, requestId }: { id: string; requestId: string | null },
  ): Promise<void> {
    const { queries } = transaction;
    const { install_id } = update;
    // The install may have been deleted since.
    if (!(await lockRow(transaction, 'installs', install_id))) return;
    const checkpoint_id = random.uuid();
    if (!(await beginUpdate(queries, update.id, checkpoint_id))) return;
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
      payload: { update_id: update.id, install_id, checkpoint_id, updates },
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

  /** Outside the fence: the roll-back has happened, whatever becomes of this attempt. */
  async function noteRollBack(update: StoredUpdate, outcome: UpdateOutcome): Promise<PermanentFailure> {
    const { rolledBack, wordpressVersion } = outcome;
    const broken = rolledBack?.update ?? null;
    const message = describeRollBack(broken, rolledBack?.reason ?? 'the reason is unknown');
    await database.write(async (transaction) => {
      await end(transaction, update.id, { status: 'rolled_back', broken, reason: message });
      await setWordpressVersion(transaction.queries, update.install_id, wordpressVersion);
      await requestReading(transaction, queue, update.install_id, { check: true });
    });
    return new PermanentFailure(message, { code: 'rolled_back' });
  }

  return [
    defineJob({
      ...planUpdate,
      async run({ update_id, install_id }, job) {
        const update = await findUpdate(reader, update_id);
        if (update?.status !== 'requested') return;
        const install = await findActiveInstall(reader, install_id);
        if (!install) throw new PermanentFailure(GONE, { code: 'website_missing' });
        const plan = await permanently(postponing(host.planUpdates(install, update.wanted, job.signal)));
        if (plan.refused.length > 0 && update.cause === 'request') {
          throw new PermanentFailure(`Nothing was updated. ${plan.refused.slice(0, 3).join('. ')}.`, {
            code: 'host_refused',
          });
        }
        const updates = await withoutRolledBack(update, plan.updates);
        return async (transaction) => {
          if (updates.length > 0) return begin(transaction, update, updates, job);
          await end(transaction, update_id, { status: 'unnecessary' });
          await setResult(transaction.queries, job.id, OPERATION, {});
        };
      },
      async giveUp({ update_id }, { reason }, transaction) {
        await end(transaction, update_id, { status: 'failed', reason });
      },
    }),
    defineJob({
      ...updateWebsite,
      async run({ update_id, install_id, checkpoint_id, updates }, { id: jobId, signal, log }) {
        const update = await findUpdate(reader, update_id);
        if (update?.status === 'rolled_back') {
          throw new PermanentFailure(update.reason ?? 'It was rolled back.', { code: 'rolled_back' });
        }
        if (update?.status !== 'running') return;
        const install = await findActiveInstall(reader, install_id);
        if (!install) throw new PermanentFailure(GONE, { code: 'website_missing' });
        if ((await findBackup(reader, install_id, checkpoint_id))?.status !== 'completed') {
          throw new PermanentFailure(
            'The checkpoint could not be made, so nothing was updated. The list of backups says why.',
            { code: 'checkpoint_failed' },
          );
        }
        const { pages } = await findPolicy(reader, install_id);
        const order = { updateId: update_id, checkpointId: checkpoint_id, updates, pages };
        const outcome = await permanently(postponing(host.updateWordpress(install, order, signal)));
        if (outcome.rolledBack !== null) {
          log.warn({ update: outcome.rolledBack.update }, 'an update was rolled back');
          throw await noteRollBack(update, outcome);
        }
        return async (transaction) => {
          await end(transaction, update_id, { status: 'succeeded', made: outcome.made });
          await setWordpressVersion(transaction.queries, install_id, outcome.wordpressVersion);
          await requestReading(transaction, queue, install_id, { check: true });
          await setResult(transaction.queries, jobId, OPERATION, resultOf(outcome.made, checkpoint_id));
        };
      },
      async giveUp({ update_id, install_id, checkpoint_id }, { reason }, transaction) {
        const before = await end(transaction, update_id, { status: 'failed', reason });
        // The website may be half updated, and the host could not restore the checkpoint itself.
        if (before === 'running')
          await putCheckpointBack(platform, transaction, { install_id, checkpoint_id });
      },
    }),
  ];
}

/** Why an update was rolled back, one sentence. */
export function describeRollBack(broken: AvailableUpdate | null, reason: string): string {
  const what =
    broken === null ? 'The update' : `The update of ${broken.name} from ${broken.from} to ${broken.to}`;
  return `${what} was rolled back: ${reason}.`;
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

function resultOf(made: readonly AvailableUpdate[], checkpointId: string): Record<string, string> {
  const count = (kind: AvailableUpdate['kind']) => made.filter((update) => update.kind === kind).length;
  const core = made.find(({ kind }) => kind === 'core');
  return {
    ...(core === undefined ? {} : { version: core.to }),
    ...(count('plugin') === 0 ? {} : { plugins: String(count('plugin')) }),
    ...(count('theme') === 0 ? {} : { themes: String(count('theme')) }),
    checkpoint_id: checkpointId,
  };
}
