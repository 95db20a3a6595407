import { Value } from 'typebox/value';
import { timestamp } from '../../clock.ts';
import { type ObjectStorage, ObjectStorageError, type StoredObject } from '../../hosting/object-storage.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../jobs/job.ts';
import type { Platform } from '../../platform.ts';
import { applyInstall } from '../installs/jobs.ts';
import { configureOffload } from './jobs.ts';
import { filestoreSettingsSchema } from './schema.ts';
import type { FilestoreSettings } from './service.ts';

/** A validation file is 16 characters; white space at its end is an editor's, and more than this is another file. */
const LARGEST_VALIDATION_BYTES = 256;

/** Checks that a bucket is the customer's, and only then puts the settings in force. */
export function offloadJobKinds(platform: Platform, storage: ObjectStorage): JobKind[] {
  const { database, queue, clock } = platform;
  return [
    defineJob({
      ...configureOffload,
      async run({ install_id }) {
        const row = await database.reader
          .selectFrom('offload_settings as settings')
          .innerJoin('installs as install', 'install.id', 'settings.install_id')
          .select([
            'settings.requested',
            'settings.state',
            'install.offload_file_name as name',
            'install.offload_file_content as content',
          ])
          .where('settings.install_id', '=', install_id)
          .executeTakeFirst();
        // An earlier job of the same install decided the same request.
        if (row?.state !== 'requested') return;
        const requested = Value.Parse(filestoreSettingsSchema, row.requested);
        await requireValidationFile(storage, requested, row);
        return async (transaction) => {
          await transaction.queries
            .updateTable('offload_settings')
            .set({
              settings: JSON.stringify(requested),
              requested: JSON.stringify(requested),
              state: 'in_force',
              reason: null,
              updated_at: timestamp(clock),
            })
            .where('install_id', '=', install_id)
            .execute();
          await queue.enqueue(transaction, applyInstall, { payload: { id: install_id }, lane: install_id });
        };
      },
      /** What was in force stays in force. */
      async giveUp({ install_id }, failure, { queries }) {
        await queries
          .updateTable('offload_settings')
          .set({ state: 'refused', reason: failure.reason, updated_at: timestamp(clock) })
          .where('install_id', '=', install_id)
          .where('state', '=', 'requested')
          .execute();
      },
    }),
  ];
}

async function requireValidationFile(
  storage: ObjectStorage,
  { bucket, bucket_region }: FilestoreSettings,
  file: { name: string; content: string },
): Promise<void> {
  let object: StoredObject | null;
  try {
    object = await storage.get({ bucket, region: bucket_region, key: file.name });
  } catch (error) {
    if (error instanceof ObjectStorageError) throw new PermanentFailure(error.message, { cause: error });
    throw error;
  }
  if (object === null) {
    throw new PermanentFailure(
      `The bucket ${bucket} has no ${file.name} at its root; put the validation file there.`,
    );
  }
  const text = await readText(object);
  if (text?.trim() !== file.content) {
    throw new PermanentFailure(
      `${file.name} in the bucket ${bucket} is not this install's validation file; upload it again as it was given.`,
    );
  }
}

/** The body as text, or undefined if it is longer than a validation file can be. */
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
