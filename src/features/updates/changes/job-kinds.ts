import { Value } from 'typebox/value';
import type { Host } from '../../../hosting/contract/host.ts';
import type { ItemOutcome } from '../../../hosting/contract/wordpress-changes.ts';
import { isBegun, noteBegun } from '../../../jobs/begun-store.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../../jobs/job.ts';
import { setResult } from '../../../jobs/operations-store.ts';
import { timestamp } from '../../../lib/clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import { putCheckpointBack } from '../../backups/checkpoints.ts';
import { requireFormerState } from '../../backups/former-state-store.ts';
import { changeWordPressItem } from '../../backups/jobs.ts';
import { findBackup } from '../../backups/store.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { findActiveInstall } from '../../websites/installs/website-store.ts';
import { requestReading } from '../../websites/wordpress/request-reading.ts';
import { findPolicy } from '../policy-store.ts';
import { storedChange } from './stored-change.ts';

/** A restore of an older one would lose too much. */
const OLDEST_CHECKPOINT_MS = HOUR_MS;

/** With these codes the website is as it was. */
const UNCHANGED: readonly string[] = [
  'rolled_back',
  'pages_differ',
  'change_refused',
  'checkpoint_failed',
  'website_missing',
  'not_restored',
];

/** The job that changes a plugin or theme. */
export function changeKind(platform: Platform, host: Host): JobKind {
  const { database, queue, sealer, clock } = platform;
  const { reader } = database;

  /** The checkpoint of a change that has not begun must be new: a restore loses what happened since. */
  async function requireCheckpoint(jobId: string, installId: string, checkpointId: string): Promise<void> {
    const checkpoint = await findBackup(reader, installId, checkpointId);
    if (checkpoint?.status !== 'completed') {
      throw new PermanentFailure(
        'The checkpoint could not be made, so nothing was changed. The list of backups says why.',
        { code: 'checkpoint_failed' },
      );
    }
    const finished = Date.parse(checkpoint.finished_at ?? checkpoint.created_at);
    if (clock.now().getTime() - finished <= OLDEST_CHECKPOINT_MS) return;
    if (await isBegun(reader, jobId)) return;
    throw new PermanentFailure(
      'The change could not begin within an hour of its checkpoint, so nothing was changed. Make it again.',
    );
  }

  return defineJob({
    ...changeWordPressItem,
    async run({ change_id, install_id, sealed_change, checkpoint_id }, { id: jobId, signal, log }) {
      const install = await findActiveInstall(reader, install_id);
      if (!install) {
        throw new PermanentFailure('The install has no website to change.', { code: 'website_missing' });
      }
      if (!(await isBegun(reader, jobId))) await requireFormerState(reader, install_id, jobId);
      if (checkpoint_id !== undefined) await requireCheckpoint(jobId, install_id, checkpoint_id);
      const change = Value.Parse(storedChange, JSON.parse(sealer.open(sealed_change)));
      // Pages that the customer named may need a plugin that is to go.
      const isGoing = change.status === 'inactive' || change.status === 'deleted';
      const pages = isGoing ? [] : (await findPolicy(reader, install_id)).pages;
      const order = { changeId: change_id, checkpointId: checkpoint_id ?? null, change, pages };
      // Outside the fence: the host changes the website, whatever becomes of this attempt.
      let begun: Promise<void> | undefined;
      const report = () => {
        if (begun !== undefined || checkpoint_id === undefined) return;
        begun = database.write(({ queries }) => noteBegun(queries, jobId, timestamp(clock)));
        // Awaited below.
        begun.catch(() => {});
      };
      let outcome: ItemOutcome;
      try {
        outcome = await permanently(postponing(host.changeItem(install, order, signal, report)));
      } finally {
        await begun;
      }
      if ('refused' in outcome) {
        throw new PermanentFailure(`${outcome.refused}.`, { code: 'change_refused' });
      }
      if ('rolledBack' in outcome) {
        log.warn({ change: change_id }, 'a change of a plugin or theme was rolled back');
        await database.write((transaction) => requestReading(transaction, queue, install_id));
        throw new PermanentFailure(`The change was rolled back: ${outcome.rolledBack}.`, {
          code: outcome.mayKeep ? 'pages_differ' : 'rolled_back',
        });
      }
      const { id, name, version, warning } = outcome.changed;
      return async (transaction) => {
        await requestReading(transaction, queue, install_id, { delayMs: 0 });
        await setResult(transaction.queries, jobId, 'wordpress.change', {
          id,
          name,
          ...(version === null ? {} : { version }),
          ...(warning === undefined ? {} : { warning }),
          ...(checkpoint_id === undefined ? {} : { checkpoint_id }),
        });
      };
    },
    async giveUp({ install_id, checkpoint_id }, { jobId, code }, transaction) {
      if (checkpoint_id === undefined || UNCHANGED.includes(code)) return;
      // Otherwise the website is unchanged, and a restore would lose what happened since the checkpoint.
      if (!(await isBegun(transaction.queries, jobId))) return;
      // The website may be half changed, and the host could not restore the checkpoint itself.
      await putCheckpointBack(platform, transaction, { install_id, checkpoint_id });
    },
  });
}
