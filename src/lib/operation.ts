/**
 * The kinds of operations: work that users start, or that the platform does on their installs, and can follow (docs/api.md,
 * Operations). A job type names its kind; jobs of other types are the platform's own matter.
 */
export const OPERATION_KINDS = [
  'install.create',
  'install.apply',
  'install.copy',
  'install.delete',
  'backup.create',
  'backup.restore',
  'backup.delete',
  'archive.create',
  'domain.check',
  'certificate.order',
  'cache.purge',
  'offload.configure',
  'wordpress.update',
  'site.transfer',
] as const;

export type OperationKind = (typeof OPERATION_KINDS)[number];

/** The result of a service that started an operation. */
export type WithOperation<Result> = Result & { operationId: string };
