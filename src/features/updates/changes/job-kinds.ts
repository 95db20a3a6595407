import { Value } from 'typebox/value';
import type { Host } from '../../../hosting/contract/host.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../../jobs/job.ts';
import { setResult } from '../../../jobs/operations-store.ts';
import type { Platform } from '../../../platform/platform.ts';
import { putCheckpointBack } from '../../backups/checkpoints.ts';
import { changeWordPressItem } from '../../backups/jobs.ts';
import { findBackup } from '../../backups/store.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { findActiveInstall } from '../../websites/installs/website-store.ts';
import { requestReading } from '../../websites/wordpress/request-reading.ts';
import { findPolicy } from '../policy-store.ts';
import { storedChange } from './stored-change.ts';

/** With these codes the website is as it was. */
const UNCHANGED: readonly string[] = [
  'rolled_back',
  'change_refused',
  'checkpoint_failed',
  'website_missing',
];

/** The job that changes a plugin or theme. */
export function changeKind(platform: Platform, host: Host): JobKind {
  const { database, queue, sealer } = platform;
  const { reader } = database;
  return defineJob({
    ...changeWordPressItem,
    async run({ change_id, install_id, sealed_change, checkpoint_id }, { id: jobId, signal, log }) {
      const install = await findActiveInstall(reader, install_id);
      if (!install) {
        throw new PermanentFailure('The install has no website to change.', { code: 'website_missing' });
      }
      if (
        checkpoint_id !== undefined &&
        (await findBackup(reader, install_id, checkpoint_id))?.status !== 'completed'
      ) {
        throw new PermanentFailure(
          'The checkpoint could not be made, so nothing was changed. The list of backups says why.',
          { code: 'checkpoint_failed' },
        );
      }
      const change = Value.Parse(storedChange, JSON.parse(sealer.open(sealed_change)));
      // Pages that the customer named may need a plugin that is to go.
      const isGoing = change.status === 'inactive' || change.status === 'deleted';
      const pages = isGoing ? [] : (await findPolicy(reader, install_id)).pages;
      const outcome = await permanently(
        postponing(
          host.changeItem(
            install,
            { changeId: change_id, checkpointId: checkpoint_id ?? null, change, pages },
            signal,
          ),
        ),
      );
      if ('refused' in outcome) {
        throw new PermanentFailure(`${outcome.refused}.`, { code: 'change_refused' });
      }
      if ('rolledBack' in outcome) {
        log.warn({ change: change_id }, 'a change of a plugin or theme was rolled back');
        await database.write((transaction) => requestReading(transaction, queue, install_id));
        throw new PermanentFailure(`The change was rolled back: ${outcome.rolledBack}.`, {
          code: 'rolled_back',
        });
      }
      const { id, name, version } = outcome.changed;
      return async (transaction) => {
        await requestReading(transaction, queue, install_id, { delayMs: 0 });
        await setResult(transaction.queries, jobId, 'wordpress.change', {
          id,
          name,
          ...(version === null ? {} : { version }),
          ...(checkpoint_id === undefined ? {} : { checkpoint_id }),
        });
      };
    },
    async giveUp({ install_id, checkpoint_id }, { code }, transaction) {
      // The website may be half changed, and the host could not restore the checkpoint itself.
      if (checkpoint_id === undefined || UNCHANGED.includes(code)) return;
      await putCheckpointBack(platform, transaction, { install_id, checkpoint_id });
    },
  });
}
