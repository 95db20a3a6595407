import { bodyRoute, pagedRoute, type Route } from '../../api/route.ts';
import { nullableString, nullableTimestamp, stringEnum, Type, timestamp, uuid } from '../../api/schema.ts';
import { copiedParts, partsToRestore, restoredParts, tableNames } from './schema.ts';
import type { BackupService } from './service.ts';

const nullableInteger = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description });

const backupDetailsSchema = Type.Object({
  id: uuid(),
  description: Type.String(),
  status: stringEnum(['requested', 'in_progress', 'completed', 'aborted']),
  bytes: nullableInteger('null until completed'),
  files: nullableInteger('null until completed'),
  reason: nullableString('reason of an abort, one sentence'),
  scheduled: Type.Boolean({ description: 'made by the daily schedule' }),
  checkpoint: Type.Boolean({ description: 'made before a restore' }),
  for_copy: Type.Boolean({
    description: 'made for a copy into another install, and deleted after it',
  }),
  created_at: timestamp(),
  finished_at: nullableString(),
  verified_at: nullableTimestamp(
    'when what it stored was read back, or all of it was restored in a check; null until completed',
  ),
  missing_since: nullableTimestamp('since when the backup storage does not have it; null while it is there'),
  expires_at: nullableTimestamp('from when it is deleted, unless it is the last one; null: never'),
});

/** Portal endpoints that list and restore backups; the public API shows single backups only. */
export function backupPortalRoutes(backups: BackupService): Route[] {
  const tag = 'Backups';
  return [
    pagedRoute({
      path: '/installs/:install_id/backups',
      operationId: 'listBackups',
      summary: 'The backups of an install, newest first',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      item: backupDetailsSchema,
      handle: ({ caller, id, page }) => backups.list(caller, id('install_id'), page),
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/backups/:backup_id/restore',
      operationId: 'restoreBackup',
      summary: 'Restore a backup into its install or into another install of the account',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 202,
      response: Type.Object({ operation_id: uuid('of the restored install') }),
      body: {
        resource: 'Backup',
        schema: Type.Object({
          into_install_id: Type.Optional(
            Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid' }),
          ),
          ...restoredParts,
          create_checkpoint: Type.Optional(Type.Boolean({ description: 'false by default' })),
        }),
      },
      handle: async ({ caller, id }, { into_install_id, create_checkpoint = false, ...chosen }) => ({
        operation_id: await backups.restore(caller, id('install_id'), id('backup_id'), {
          into: into_install_id ?? null,
          parts: partsToRestore(chosen),
          checkpoint: create_checkpoint,
          notification_emails: [],
        }),
      }),
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/copy',
      operationId: 'copyInstall',
      summary: 'Copy this install into another install of the account, by a backup and a restore',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 202,
      response: Type.Object({ operation_id: uuid('of the replaced install') }),
      body: {
        resource: 'Install',
        schema: Type.Object({
          into_install_id: uuid(),
          keep_backup: Type.Optional(
            Type.Boolean({ description: 'keep the backup after the copy; false by default' }),
          ),
          create_checkpoint: Type.Optional(
            Type.Boolean({ description: 'back up the replaced install first; false by default' }),
          ),
          include_files: Type.Optional(Type.Boolean()),
          include_db: Type.Optional(Type.Boolean()),
          db_tables: Type.Optional(tableNames),
        }),
      },
      handle: async (
        { caller, id },
        { into_install_id, keep_backup = false, create_checkpoint = false, ...chosen },
      ) => ({
        operation_id: await backups.copy(caller, id('install_id'), {
          into: into_install_id,
          keepBackup: keep_backup,
          checkpoint: create_checkpoint,
          parts: copiedParts(chosen),
          notification_emails: [],
        }),
      }),
    }),
  ];
}
