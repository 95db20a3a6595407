import { type Route, route, Started } from '../../../api/route.ts';
import { presentDeleted } from './present.ts';
import { deletedInstallListSchema } from './schema.ts';
import type { DeletedInstallService } from './service.ts';

export function deletedInstallRoutes(deletedInstalls: DeletedInstallService): Route[] {
  const tag = 'Installs';
  return [
    route({
      method: 'GET',
      path: '/accounts/:account_id/deleted_installs',
      operationId: 'listDeletedInstalls',
      summary: 'List deleted installs that can be restored',
      description:
        'Lists the deleted installs of an account whose backups are kept, the latest first, on one page. Partial users get 403.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: deletedInstallListSchema,
      handle: async ({ caller, id }) => ({
        results: (await deletedInstalls.list(caller, id('account_id'))).map(presentDeleted),
      }),
    }),
    route({
      method: 'POST',
      path: '/deleted_installs/:deleted_install_id/restore',
      operationId: 'restoreDeletedInstall',
      summary: 'Restore a deleted install',
      description:
        'Creates the install again under its id and name, and restores its last backup. It returns to its site and environment, and gets its domains, if they are free. 409 while its name is in use or its last backup is being made.',
      tag,
      errors: [401, 403, 404, 409, 429, 503],
      success: 202,
      starts: 'backup.restore',
      handle: async ({ caller, id }) =>
        new Started(await deletedInstalls.restore(caller, id('deleted_install_id')), undefined),
    }),
  ];
}
