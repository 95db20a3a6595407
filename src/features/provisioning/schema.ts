import type { Static } from 'typebox';
import { nullableEnum, nullableString, stringEnum, Type, timestamp, uuid } from '../../api/schema.ts';
import { CACHE_KINDS } from '../../hosting/contract/host.ts';

/** The kinds of jobs that users see as operations of an install. */
export const OPERATION_KINDS = [
  'provision_install',
  'apply_install',
  'switch_wordpress',
  'create_backup',
  'restore_backup',
  'copy_install',
  'purge_cache',
  'configure_offload',
] as const;

/** The steps of a copy of one install into another. */
export const COPY_STEPS = ['waiting', 'backing_up', 'restoring'] as const;

const operationBackup = Type.Object(
  { description: Type.String(), created_at: timestamp() },
  {
    description:
      'the backup that `create_backup` makes or `restore_backup` restores; null for other kinds and once deleted',
  },
);

const operationCopy = Type.Object(
  {
    from: nullableString('name of the source install; null if it is deleted or hidden from you'),
    step: nullableEnum(COPY_STEPS, 'the present step, in this order; null once the copy has ended'),
  },
  { description: 'how far `copy_install` is; null of the others' },
);

export const operationSchema = Type.Object({
  id: uuid(),
  kind: stringEnum(OPERATION_KINDS),
  cache: nullableEnum(CACHE_KINDS, 'what `purge_cache` empties; null of the others'),
  backup: Type.Unsafe<Static<typeof operationBackup> | null>({
    ...operationBackup,
    type: ['object', 'null'],
  }),
  copy: Type.Unsafe<Static<typeof operationCopy> | null>({
    ...operationCopy,
    type: ['object', 'null'],
  }),
  state: stringEnum(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  attempt: Type.Integer({ description: 'number of attempts' }),
  reason: nullableString('why the last attempt failed, one sentence; null without a failure'),
  created_at: timestamp(),
  started_at: nullableString(),
  finished_at: nullableString(),
});
