import { defineJob, type JobKind, PermanentFailure } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import {
  type ObjectStorage,
  ObjectStorageError,
  type StoredObject,
} from '../../../network/object-storage/object-storage.ts';
import type { Platform } from '../../../platform/platform.ts';
import { applyInstall } from '../installs/jobs.ts';
import { configureOffload, removeOffload } from './jobs.ts';
import { endOffloadRequest, isLatest } from './requests.ts';
import type { FilestoreSettings } from './service.ts';
import { endOffload, enforceOffload, findValidationFile, type ValidationFile } from './store.ts';

/** A validation file has 16 characters. Editors may add white space at its end; anything longer is another file. */
const LARGEST_VALIDATION_BYTES = 256;

/** Verifies the customer's ownership of a bucket, then activates the settings. */
export function offloadJobKinds(platform: Platform, storage: ObjectStorage): JobKind[] {
  const { database, queue, clock } = platform;
  return [
    defineJob({
      ...configureOffload,
      async run({ install_id, settings }) {
        const file = await findValidationFile(database.reader, install_id);
        if (!file) return;
        await requireValidationFile(storage, settings, file);
        return async (transaction) => {
          const latest = await isLatest(transaction, install_id, settings);
          await enforceOffload(transaction.queries, install_id, settings, { latest, now: timestamp(clock) });
          await queue.enqueue(transaction, applyInstall, { payload: { id: install_id }, lane: install_id });
        };
      },
      /** The active settings stay. */
      giveUp: (request, { reason }, transaction) =>
        endOffloadRequest(transaction, request, { reason, now: timestamp(clock) }),
    }),
    defineJob({
      ...removeOffload,
      async run({ install_id }, { id, requestId }) {
        return async (transaction) => {
          const latest = await isLatest(transaction, install_id, null);
          await endOffload(transaction.queries, install_id, latest);
          await queue.enqueue(transaction, applyInstall, {
            payload: { id: install_id },
            lane: install_id,
            requestId,
            continues: id,
          });
        };
      },
    }),
  ];
}

async function requireValidationFile(
  storage: ObjectStorage,
  { bucket, bucket_region }: FilestoreSettings,
  file: ValidationFile,
): Promise<void> {
  let object: StoredObject | null;
  try {
    object = await storage.get({ bucket, region: bucket_region, key: file.name });
  } catch (error) {
    if (error instanceof ObjectStorageError)
      throw new PermanentFailure(error.message, { code: 'storage_refused', cause: error });
    throw error;
  }
  if (object === null) {
    throw new PermanentFailure(
      `The bucket ${bucket} has no ${file.name} at its root; put the validation file there.`,
      { code: 'validation_file_missing' },
    );
  }
  const text = await readText(object);
  if (text?.trim() !== file.content) {
    throw new PermanentFailure(
      `${file.name} in the bucket ${bucket} is not this install's validation file; upload it again as it was given.`,
      { code: 'validation_file_wrong' },
    );
  }
}

/** The body as text; undefined if it is longer than a validation file. */
async function readText({ body }: StoredObject): Promise<string | undefined> {
  if (body === null) return '';
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > LARGEST_VALIDATION_BYTES) {
      body.destroy();
      return undefined;
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
