import Type from 'typebox';
import { Value } from 'typebox/value';
import { type Host, RefusedImportError } from '../../../hosting/contract/host.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../../jobs/job.ts';
import type { Platform } from '../../../platform/platform.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { findActiveInstall } from '../../websites/installs/website-store.ts';
import { requestReading } from '../../websites/wordpress/request-reading.ts';
import { putCheckpointBack, requireCheckpoint } from '../checkpoints.ts';
import { importWebsite } from '../jobs.ts';
import { enqueueRestoreMails } from '../restore-job.ts';

const Source = Type.Union([Type.Object({ file: Type.String() }), Type.Object({ url: Type.String() })]);

/** The job that imports an existing website. A refused archive has changed nothing, so the checkpoint is not put back. */
export function importKind(platform: Platform, host: Host): JobKind {
  const { database, sealer } = platform;
  return defineJob({
    ...importWebsite,
    async run(payload, { signal, progress }) {
      const install = await findActiveInstall(database.reader, payload.install_id);
      if (!install)
        throw new PermanentFailure('The install has no website to replace.', { code: 'website_missing' });
      await requireCheckpoint(database.reader, payload, 'replaced');
      const source = Value.Parse(Source, JSON.parse(sealer.open(payload.sealed_source)));
      await permanently(
        postponing(
          host.importWebsite(install, source, {
            signal,
            report: (done, total, step) => progress(done, total, 'bytes', step),
          }),
        ),
      ).catch((error: unknown) => {
        if (!(error instanceof PermanentFailure && error.cause instanceof RefusedImportError)) throw error;
        throw new PermanentFailure(error.message, { code: 'import_refused', cause: error.cause });
      });
      return async (transaction) => {
        await enqueueRestoreMails(platform, transaction, payload, { work: 'import', reason: null });
        await requestReading(transaction, platform.queue, payload.install_id);
      };
    },
    async giveUp(payload, { reason, code }, transaction) {
      await enqueueRestoreMails(platform, transaction, payload, { work: 'import', reason });
      if (code !== 'import_refused') await putCheckpointBack(platform, transaction, payload);
    },
  });
}
