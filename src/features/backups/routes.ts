import { EXAMPLE_ID } from '../../api/example-ids.ts';
import { bodyRoute, type Route, route, Started } from '../../api/route.ts';
import { component, emailAddress, stringEnum, Type, uuid } from '../../api/schema.ts';
import { NOT_BLANK } from '../../api/validation.ts';
import type { BackupService } from './service.ts';

const backupSchema = component(
  'Backup',
  Type.Object(
    { id: uuid(), status: stringEnum(['requested', 'in_progress', 'completed', 'aborted']) },
    { description: 'A verified copy of an install' },
  ),
  { id: EXAMPLE_ID.backup, status: 'requested' },
);

const createBackupSchema = component(
  'CreateBackup',
  Type.Object({
    description: Type.String({ pattern: NOT_BLANK, maxLength: 1000 }),
    notification_emails: Type.Array(emailAddress(), {
      maxItems: 50,
      description: 'addresses notified when the backup completes or aborts',
    }),
  }),
  { description: 'Before the update of WooCommerce', notification_emails: ['ada@example.com'] },
);

export function backupRoutes(backups: BackupService): Route[] {
  const tag = 'Backups';
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/backups',
      operationId: 'createBackup',
      summary: 'Request a backup',
      description:
        'Starts a backup of the files and the database. A backup is `completed` after it was read back and verified.',
      link: { operationId: 'showBackup', ids: { backup_id: '/id' } },
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 202,
      starts: 'backup.create',
      response: backupSchema,
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
      handle: ({ caller, id }) => backups.get(caller, id('install_id'), id('backup_id')),
    }),
  ];
}
