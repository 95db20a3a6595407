import type { Transaction } from '../../../database/database.ts';
import { RefusedImportError } from '../../../hosting/contract/errors.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { isImportStep } from '../../../hosting/contract/imports.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../../jobs/job.ts';
import { addWarning } from '../../../jobs/operation-warning.ts';
import { setResult } from '../../../jobs/operations-store.ts';
import type { Platform } from '../../../platform/platform.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { endLoss, findActiveInstall } from '../../websites/installs/website-store.ts';
import { requestReading } from '../../websites/wordpress/request-reading.ts';
import { receiveCopy } from '../awaited-copies-store.ts';
import { putCheckpointBack, requireCheckpoint } from '../checkpoints.ts';
import { importWebsite, settleImport } from '../jobs.ts';
import { enqueueRestoreMails } from '../restore-job.ts';
import { findImportKey } from './import-key-store.ts';
import { openSource } from './source.ts';
import { noteSettlement } from './unsettled-store.ts';

/** Requests that the checkpoint of an ended import is put back if the host says that the import had replaced the website. */
export async function enqueueSettlement(
  { queue }: Pick<Platform, 'queue'>,
  transaction: Transaction,
  {
    install_id,
    import_id,
    checkpoint_id,
  }: { install_id: string; import_id?: string; checkpoint_id?: string },
): Promise<void> {
  if (import_id === undefined || checkpoint_id === undefined) return;
  await queue.enqueue(transaction, settleImport, {
    payload: { install_id, import_id, checkpoint_id },
    lane: install_id,
    ahead: true,
  });
}

/** The job that settles ended imports. */
export function settlementKind(platform: Platform, host: Pick<Host, 'lastImport'>): JobKind {
  return defineJob({
    ...settleImport,
    async run(payload) {
      const install = await findActiveInstall(platform.database.reader, payload.install_id);
      if (!install) return;
      const last = await permanently(postponing(host.lastImport(install)));
      return async (transaction) => {
        await noteSettlement(transaction.queries, payload, true);
        if (last === payload.import_id) await putCheckpointBack(platform, transaction, payload);
      };
    },
    async giveUp(payload, _failure, transaction) {
      await noteSettlement(transaction.queries, payload, false);
      const { install_id, import_id } = payload;
      platform.log.error(
        { install: install_id, import: import_id },
        'the host did not say whether a failed import had replaced its website, so its checkpoint was not put back; trying again within the hour, for a day',
      );
    },
  });
}

async function privateKeyOf({ database, sealer }: Platform, installId: string): Promise<string> {
  const key = await findImportKey(database.reader, installId);
  if (!key)
    throw new PermanentFailure(
      'The import key of the install is gone, as after a transfer to another account. Create a new one, add it to the old host, and import again.',
      { code: 'import_refused' },
    );
  return sealer.open(key.sealed_key);
}

/** The job that imports an existing website. */
export function importKind(platform: Platform, host: Host): JobKind {
  const { database, sealer } = platform;
  return defineJob({
    ...importWebsite,
    async run(payload, { id: jobId, signal, progress }) {
      const install = await findActiveInstall(database.reader, payload.install_id);
      if (!install)
        throw new PermanentFailure('The install has no website to replace.', { code: 'website_missing' });
      await requireCheckpoint(database.reader, payload, 'replaced');
      const wanted = openSource(sealer, payload.sealed_source);
      const source =
        'ssh' in wanted
          ? { ssh: { ...wanted.ssh, privateKey: await privateKeyOf(platform, install.id) } }
          : wanted;
      const { warning, notes = [] } = await permanently(
        postponing(
          host.importWebsite(
            install,
            source,
            { importId: payload.import_id },
            signal,
            (done, total, step) => {
              if (isImportStep(step)) progress(done, total, 'bytes', step);
            },
          ),
        ),
      ).catch((error: unknown) => {
        if (!(error instanceof PermanentFailure && error.cause instanceof RefusedImportError)) throw error;
        throw new PermanentFailure(error.message, { code: 'import_refused', cause: error.cause });
      });
      return async (transaction) => {
        await receiveCopy(transaction.queries, payload.install_id);
        await endLoss(transaction.queries, payload.install_id);
        if (notes.length > 0) {
          const { checkpoint_id } = payload;
          await setResult(transaction.queries, jobId, 'install.import', {
            ...(checkpoint_id === undefined ? {} : { checkpoint_id }),
            left_out: notes.join(' '),
          });
        }
        await addWarning(transaction.queries, jobId, 'install.import', warning);
        await enqueueRestoreMails(platform, transaction, payload, { work: 'import', reason: null, warning });
        await requestReading(transaction, platform.queue, payload.install_id);
      };
    },
    async giveUp(payload, { reason, code, attempts }, transaction) {
      await enqueueRestoreMails(platform, transaction, payload, { work: 'import', reason });
      // A refused archive has changed nothing, unless an earlier attempt was interrupted after the exchange.
      if (code !== 'import_refused' || attempts > 1) await enqueueSettlement(platform, transaction, payload);
    },
  });
}
