import { bodyRoute, pagedRoute, type Route, route, Started } from '../../api/route.ts';
import type { Static } from '../../api/schema.ts';
import {
  backupSchema,
  copiedParts,
  copyInstallSchema,
  createBackupSchema,
  partsToRestore,
  requestedBackupSchema,
  restoreBackupSchema,
} from './schema.ts';
import type { BackupService, KeptBackup } from './service.ts';

export function backupRoutes(backups: BackupService): Route[] {
  const tag = 'Backups';
  return [
    pagedRoute({
      path: '/installs/:install_id/backups',
      operationId: 'listBackups',
      summary: 'List backups',
      description:
        'Returns the backups of an install, oldest first, with their kind, size and last verification. A backup with `missing_since` is not in the backup storage any more.',
      tag,
      errors: [400, 401, 403, 404, 429, 502, 503],
      item: backupSchema,
      async handle({ caller, id, page }) {
        const { count, results } = await backups.page(caller, id('install_id'), page);
        return { count, results: results.map(presentBackup) };
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/backups',
      operationId: 'createBackup',
      summary: 'Request a backup',
      description:
        'Starts a backup of the files and the database. A backup is `completed` after what it stored was read back and verified.',
      link: { operationId: 'showBackup', ids: { backup_id: '/id' } },
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 202,
      starts: 'backup.create',
      response: requestedBackupSchema,
      body: {
        resource: 'Backup',
        schema: createBackupSchema,
        texts: {
          description: {
            required: {
              summary: 'Backup description is required',
              message: 'Backup description cannot be empty',
            },
          },
        },
      },
      async handle({ caller, id }, body) {
        const { operationId, ...backup } = await backups.request(caller, id('install_id'), body);
        return new Started(operationId, backup);
      },
    }),
    route({
      method: 'GET',
      path: '/installs/:install_id/backups/:backup_id',
      operationId: 'showBackup',
      summary: 'Get a backup',
      description: 'Returns the status of a backup. Poll it until the status is `completed` or `aborted`.',
      tag,
      errors: [400, 401, 404, 429, 503],
      success: 200,
      response: backupSchema,
      handle: async ({ caller, id }) =>
        presentBackup(await backups.get(caller, id('install_id'), id('backup_id'))),
    }),
    route({
      method: 'DELETE',
      path: '/installs/:install_id/backups/:backup_id',
      operationId: 'deleteBackup',
      summary: 'Delete a backup',
      description:
        'Deletes a backup. It cannot be undone. A backup that is being made, restored, copied or packed gets 409.',
      tag,
      errors: [400, 401, 403, 404, 409, 429, 503],
      success: 204,
      handle: ({ caller, id }) => backups.remove(caller, id('install_id'), id('backup_id')),
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/backups/:backup_id/restore',
      operationId: 'restoreBackup',
      summary: 'Restore a backup',
      description:
        'Replaces the files, the database or both by those of a backup, or only chosen files, folders and tables (`paths`, `db_tables`). A checkpoint, which is on by default, is a backup of the present website. It is put back if the restore fails.',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 502, 503],
      success: 202,
      starts: 'backup.restore',
      body: { resource: 'Backup', schema: restoreBackupSchema },
      async handle({ caller, id }, body) {
        const operationId = await backups.restore(caller, id('install_id'), id('backup_id'), {
          into: null,
          parts: partsToRestore(body),
          checkpoint: body.create_checkpoint ?? true,
          notification_emails: body.notification_emails,
        });
        return new Started(operationId, undefined);
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/install_copy',
      operationId: 'copyInstall',
      summary: 'Copy an install',
      description:
        'Replaces the files, the database or some tables of an install by those of another one of the account. The replaced install keeps its name and domains. A checkpoint, which is on by default, is a backup of the replaced website. It is put back if the copy fails.',
      tag: 'Installs',
      errors: [400, 401, 403, 404, 429, 500, 502, 503],
      success: 202,
      starts: 'install.copy',
      body: { resource: 'InstallCopy', schema: copyInstallSchema },
      async handle({ caller }, { source_environment_id, destination_environment_id, ...body }) {
        const operationId = await backups.copyBetween(caller, source_environment_id.toLowerCase(), {
          into: destination_environment_id,
          keepBackup: false,
          checkpoint: body.create_checkpoint ?? true,
          parts: copiedParts(body.custom_options ?? {}),
          notification_emails: body.notification_emails ?? [],
        });
        return new Started(operationId, undefined);
      },
    }),
  ];
}

function presentBackup(backup: KeptBackup): Static<typeof backupSchema> {
  const { id, status, description, wordpress_version, verified_at, missing_since, expires_at } = backup;
  return {
    id,
    status,
    description,
    create_time: backup.created_at,
    complete_time: status === 'completed' ? backup.finished_at : null,
    wordpress_version,
    kind: backup.checkpoint ? 'checkpoint' : backup.scheduled ? 'scheduled' : 'manual',
    size_bytes: backup.bytes,
    verified_at,
    missing_since,
    expires_at,
  };
}
