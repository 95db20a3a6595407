import type { Static } from 'typebox';
import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import {
  component,
  nullable,
  nullableEnum,
  nullableString,
  nullableTimestamp,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../../api/schema.ts';
import { IMPORT_STEPS } from '../../../hosting/contract/imports.ts';
import {
  OPERATION_ERROR_CODES,
  OPERATION_KINDS,
  OPERATION_STATUSES,
  PROGRESS_UNITS,
} from '../../../lib/operation.ts';
import { describeResults } from '../../../lib/operation-result.ts';
import { PURGE_TYPES } from '../../websites/caches/jobs.ts';

const installReference = component(
  'OperationInstall',
  Type.Object({ id: uuid(), name: Type.String() }, { description: 'The install, which may be deleted' }),
  { id: EXAMPLE_ID.install, name: 'shop' },
);

const progressSchema = component(
  'OperationProgress',
  Type.Object({
    done: Type.Integer({ minimum: 0 }),
    total: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'null until it is known' }),
    unit: stringEnum(PROGRESS_UNITS),
    step: nullableString(
      `what it does now, for kinds with steps; an import: ${IMPORT_STEPS.map((step) => `\`${step}\``).join(', ')}; a new install that waits for the download of WordPress: \`wordpress\``,
    ),
  }),
  { done: 734_003_200, total: 2_147_483_648, unit: 'bytes', step: null },
);

const errorSchema = component(
  'OperationError',
  Type.Object(
    {
      code: stringEnum(OPERATION_ERROR_CODES),
      message: Type.String({ description: 'one sentence for people' }),
      advice: nullableString('what to do'),
    },
    { description: 'Why it failed; while it is queued or running, why its last attempt failed' },
  ),
  {
    code: 'validation_file_missing',
    message: 'The bucket example-media has no d8a3f6e1.filestore at its root; put the validation file there.',
    advice:
      'Put the validation file of the install at the root of the bucket, and submit the settings again.',
  },
);

const resultSchema = component(
  'OperationResult',
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: `What it made, once it has succeeded. ${describeResults()}. Other kinds have no result.`,
  }),
  { backup_id: EXAMPLE_ID.backup },
);

const members = {
  id: uuid(),
  kind: stringEnum(OPERATION_KINDS),
  status: stringEnum(OPERATION_STATUSES),
  account_id: uuid(),
  install: nullable(installReference),
  created_at: timestamp(),
  started_at: nullableTimestamp('when its last attempt started'),
  finished_at: nullableTimestamp(),
  progress: nullable(progressSchema),
  error: nullable(errorSchema),
  result: nullable(resultSchema),
};

const example = {
  id: EXAMPLE_ID.operation,
  kind: 'backup.create' as const,
  status: 'succeeded' as const,
  account_id: EXAMPLE_ID.account,
  install: { id: EXAMPLE_ID.install, name: 'shop' },
  created_at: '2026-01-31T09:30:00.000Z',
  started_at: '2026-01-31T09:30:00.250Z',
  finished_at: '2026-01-31T09:31:12.800Z',
  progress: { done: 2_147_483_648, total: 2_147_483_648, unit: 'bytes' as const, step: null },
  error: null,
  result: { backup_id: EXAMPLE_ID.backup },
};

export const operationSchema = component(
  'Operation',
  Type.Object(members, {
    description: 'Work that a request started, or that the platform does on an install',
  }),
  example,
);

/** The steps of a copy of one install into another. */
export const COPY_STEPS = ['waiting', 'backing_up', 'restoring'] as const;

const operationPages = Type.Object(
  { count: Type.Integer(), first: Type.String({ description: 'a path' }) },
  { description: 'the pages that are purged; null for whole caches and other kinds' },
);

const operationBackup = Type.Object(
  { id: uuid(), description: Type.String(), created_at: timestamp() },
  { description: 'the backup that is created or restored; null for other kinds and once deleted' },
);

const operationDomain = Type.Object(
  { id: uuid(), name: Type.String() },
  { description: 'the domain that the certificate is for; null for other kinds and once deleted' },
);

const operationCopy = Type.Object(
  {
    from: nullableString('name of the source install; null if it is deleted or hidden from you'),
    step: nullableEnum(COPY_STEPS, 'the present step, in this order; null once the copy has ended'),
  },
  { description: 'how far a copy is; null of the others' },
);

/** An operation as the portal shows it. */
export const installOperationSchema = Type.Object({
  ...members,
  attempt: Type.Integer({ description: 'number of attempts' }),
  cancellable: Type.Boolean({ description: 'whether you can cancel it now' }),
  retryable: Type.Boolean({
    description: 'whether you can repeat it: it has failed, and no later one of its kind exists',
  }),
  cache: nullableEnum(PURGE_TYPES, 'the cache that is purged; null of the others'),
  pages: Type.Unsafe<Static<typeof operationPages> | null>({
    ...operationPages,
    type: ['object', 'null'],
  }),
  backup: Type.Unsafe<Static<typeof operationBackup> | null>({
    ...operationBackup,
    type: ['object', 'null'],
  }),
  domain: Type.Unsafe<Static<typeof operationDomain> | null>({
    ...operationDomain,
    type: ['object', 'null'],
  }),
  copy: Type.Unsafe<Static<typeof operationCopy> | null>({
    ...operationCopy,
    type: ['object', 'null'],
  }),
});
