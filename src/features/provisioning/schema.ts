import type { Static } from 'typebox';
import { nullableEnum, nullableString, stringEnum, Type, timestamp, uuid } from '../../api/schema.ts';
import { CACHE_KINDS } from '../../hosting/contract/host.ts';

/** The kinds of jobs of an install's lane that mean something to its people. */
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

/** What a copy of one install into another goes through. */
export const COPY_STEPS = ['waiting', 'backing_up', 'restoring'] as const;

const operationBackup = Type.Object(
  { description: Type.String(), created_at: timestamp() },
  {
    description:
      'what `create_backup` makes and `restore_backup` puts back; null of the others, and once it is deleted',
  },
);

const operationCopy = Type.Object(
  {
    from: nullableString('name of the install that is copied; null if it is gone or not shown to you'),
    step: nullableEnum(COPY_STEPS, 'what is being done, in this order; null of a copy that has ended'),
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
  attempt: Type.Integer({ description: 'how often it was begun' }),
  reason: nullableString('why the last attempt failed, one sentence; null if none did'),
  created_at: timestamp(),
  started_at: nullableString(),
  finished_at: nullableString(),
});
