import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor, readerFor } from '../../../access/request-transactions.ts';
import type { Queries } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { type Fault, INVALID_PARAMETERS, InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findInstallAccess } from '../installs/store.ts';
import { configureOffload, removeOffload } from './jobs.ts';
import { requireUsablePaths } from './offload-paths.ts';
import { filestoreSettingsSchema } from './schema.ts';
import {
  findOffload,
  findOffloadStanding,
  findValidationFile,
  type OffloadStanding,
  requestOffload,
  type ValidationFile,
} from './store.ts';

export type FilestoreSettings = Static<typeof filestoreSettingsSchema>;

export type OffloadService = ReturnType<typeof createOffloadService>;

export function createOffloadService({ database, queue, clock, activity }: Platform) {
  const { reader } = database;

  async function requireRight(queries: Queries, caller: Caller, installId: string) {
    const install = await findInstallAccess(queries, caller, installId);
    authorize('install.work', 'install.read', install);
    return install;
  }

  /**
   * Requests settings, which become active once the customer's ownership of the bucket is verified. Returns the
   * operation's id.
   */
  async function request(
    caller: Caller,
    installId: string,
    wanted: (present: FilestoreSettings | null) => FilestoreSettings,
  ): Promise<string> {
    return changeFor(database, caller, async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'installs', installId);
      const install = await requireRight(queries, caller, installId);
      const row = await findOffload(queries, installId);
      // A change on top of a pending request continues from the requested settings.
      const present = row?.state === 'requested' ? row.requested : (row?.settings ?? null);
      const asked = wanted(present === null ? null : Value.Parse(filestoreSettingsSchema, present));
      // Unknown fields are ignored and not stored.
      const requested = Value.Parse(filestoreSettingsSchema, Value.Clean(filestoreSettingsSchema, asked));
      requireUsablePaths(requested.path_settings);
      await requestOffload(queries, installId, requested, timestamp(clock));
      const operationId = await queue.enqueue(transaction, configureOffload, {
        payload: { install_id: installId, settings: requested },
        lane: installId,
        requestId: caller.origin.requestId,
      });
      await activity.record(transaction, caller, install.account_id, {
        action: 'offload.update',
        subject: { id: installId, name: install.name },
        installId,
        details: { bucket: requested.bucket },
      });
      return operationId;
    });
  }

  return {
    /** The outcome of the last request. Throws NotFound. */
    async standing(caller: Caller, installId: string): Promise<OffloadStanding> {
      await requireRight(reader, caller, installId);
      const row = await findOffloadStanding(reader, installId);
      return row ?? { state: null, reason: null, updated_at: null };
    },

    async validationFile(caller: Caller, installId: string): Promise<ValidationFile> {
      await requireRight(reader, caller, installId);
      const file = await findValidationFile(reader, installId);
      if (!file) throw new NotFound();
      return file;
    },

    /** The active settings. Throws NotFound without any. */
    async get(caller: Caller, installId: string): Promise<FilestoreSettings> {
      const queries = readerFor(database, caller);
      await requireRight(queries, caller, installId);
      const row = await findOffload(queries, installId);
      if (!row || row.settings === null) throw new NotFound();
      return Value.Parse(filestoreSettingsSchema, row.settings);
    },

    /** Switches offload off, and ends a pending request. Returns the operation's id. Throws NotFound without settings. */
    remove: (caller: Caller, installId: string): Promise<string> =>
      changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const install = await requireRight(queries, caller, installId);
        const row = await findOffload(queries, installId);
        const isPending = row?.state === 'requested' && row.requested !== null;
        if (!row || (row.settings === null && !isPending)) throw new NotFound();
        await requestOffload(queries, installId, null, timestamp(clock));
        const operationId = await queue.enqueue(transaction, removeOffload, {
          payload: { install_id: installId },
          lane: installId,
          requestId: caller.origin.requestId,
        });
        await activity.record(transaction, caller, install.account_id, {
          action: 'offload.remove',
          subject: { id: installId, name: install.name },
          installId,
        });
        return operationId;
      }),

    replace: (caller: Caller, installId: string, settings: FilestoreSettings) =>
      request(caller, installId, () => settings),

    /** Changes the given fields. Without settings so far, all fields are required. */
    merge: (caller: Caller, installId: string, change: Partial<FilestoreSettings>) =>
      request(caller, installId, (present) => complete({ ...present, ...change })),
  };
}

function complete(settings: Partial<FilestoreSettings>): FilestoreSettings {
  const { cloud, bucket, bucket_region, path_settings } = settings;
  if (cloud && bucket && bucket_region && path_settings)
    return { cloud, bucket, bucket_region, path_settings };
  const missing = Object.entries({ cloud, bucket, bucket_region, path_settings }).filter(
    ([, value]) => !value,
  );
  throw new InvalidRequest(
    INVALID_PARAMETERS,
    missing.map(
      ([field]): Fault => ({
        resource: 'OffloadSettings',
        field,
        type: 'missing_field',
        code: 'required',
        message: `${field} is required, as the install has no offload settings yet`,
      }),
    ),
  );
}
