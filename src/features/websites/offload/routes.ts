import { bodyRoute, type Route, route, Started } from '../../../api/route.ts';
import {
  mergeOffloadBody,
  offloadSettingsSchema,
  replaceOffloadBody,
  validationFileSchema,
} from './schema.ts';
import type { OffloadService } from './service.ts';

export function offloadRoutes(offload: OffloadService): Route[] {
  const tag = 'Offload';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/offload_settings/filestore_validation_file',
      operationId: 'getOffloadValidationFile',
      summary: 'Get the file that proves your ownership of a bucket',
      description:
        'Put a file with this name and content at the root of your bucket before you configure offload. It never changes for an install.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: validationFileSchema,
      handle: ({ caller, id }) => offload.validationFile(caller, id('install_id')),
    }),
    route({
      method: 'GET',
      path: '/installs/:install_id/offload_settings/files',
      operationId: 'getOffloadSettings',
      summary: 'Get the active offload settings',
      description: 'Returns the settings that the edge follows now; 404 before the first.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: offloadSettingsSchema,
      handle: async ({ caller, id }) => ({ filestore_settings: await offload.get(caller, id('install_id')) }),
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/offload_settings/files',
      operationId: 'configureOffloadSettings',
      summary: 'Replace the offload settings',
      description: 'A job reads the validation file from the bucket first, and then activates the settings.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 202,
      starts: 'offload.configure',
      body: replaceOffloadBody,
      handle: async ({ caller, id }, body) =>
        new Started(await offload.replace(caller, id('install_id'), body.filestore_settings), undefined),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/installs/:install_id/offload_settings/files',
      operationId: 'updateOffloadSettings',
      summary: 'Change some of the offload settings',
      description: 'Changes the given fields and keeps the others. A job activates the settings.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 202,
      starts: 'offload.configure',
      body: mergeOffloadBody,
      handle: async ({ caller, id }, body) =>
        new Started(await offload.merge(caller, id('install_id'), body.filestore_settings), undefined),
    }),
    route({
      method: 'DELETE',
      path: '/installs/:install_id/offload_settings/files',
      operationId: 'deleteOffloadSettings',
      summary: 'Switch offload off',
      description:
        'Ends the active settings and a pending request; 404 without either. The install then serves its own files. The bucket stays as it is.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 202,
      starts: 'offload.configure',
      handle: async ({ caller, id }) =>
        new Started(await offload.remove(caller, id('install_id')), undefined),
    }),
  ];
}
