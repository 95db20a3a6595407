import type { Logger } from 'pino';
import type { TSchema } from 'typebox';
import { Unavailable } from '../../../../lib/failures.ts';
import { FaultCollection } from '../../../../lib/fault-collection.ts';
import { IsolatedTaskLost, isolatedTask } from '../../../../lib/isolated/isolated-task.ts';
import { strangersProcess } from '../../../../lib/isolated/strangers-process.ts';
import { uploadFault } from './certificate-fault.ts';
import type { ReadUpload, SentUpload } from './read-upload.ts';

const read = isolatedTask<typeof import('./read-upload.ts').readUpload>(
  new URL('./read-upload.ts', import.meta.url),
  'readUpload',
);

/**
 * Reads an upload in the process that may die of it. `schema`: of the request, for the order of the faults. Throws InvalidRequest with a fault
 * of each field, and Unavailable if no process starts.
 */
export async function readUploadIsolated(
  sent: SentUpload,
  { schema, log }: { schema: TSchema; log: Logger },
): Promise<ReadUpload> {
  const outcome = await strangersProcess.run(read, sent).catch((err: unknown) => {
    if (!(err instanceof IsolatedTaskLost)) throw err;
    if (err.reason === 'start') {
      log.error({ err }, 'the check of an uploaded certificate could not start');
      throw new Unavailable('The certificate could not be checked. Try again in a minute.');
    }
    log.warn({ err }, 'the check did not survive an uploaded certificate');
    const message =
      'This certificate or its private key cannot be read safely. Get a new one from the certificate authority, with a key of a usual kind.';
    return { faults: uploadFault('certificate', 'unusable', message).faults };
  });
  if ('upload' in outcome) return outcome.upload;
  new FaultCollection(schema, outcome.faults).refuse();
  throw new Error('a refused upload has faults');
}
