import { bodyRoute, type Route, route, Started } from '../../../api/route.ts';
import type { ImportKeyService } from './import-key-service.ts';
import { importKeySchema, importWebsiteSchema } from './schema.ts';
import type { ImportService } from './service.ts';
import { IMPORT, readSource } from './source.ts';

export function importRoutes(imports: ImportService, importKeys: ImportKeyService): Route[] {
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/imports',
      operationId: 'importWebsite',
      needs: 'imports',
      summary: 'Import an existing website',
      description:
        'Replaces the website of an install by an existing one from an archive. This is a `.zip` or `.tar.gz` with `wp-content` and one dump (`.sql` or `.sql.gz`), a full backup of cPanel or Plesk, or a backup of All-in-One WP Migration, Duplicator, UpdraftPlus or Homeport. If it has several websites, `site` names one of them. The result says what was skipped or not imported. With the source `ssh`, the host fetches `wp-content` and a dump from the old host, with the import key of the install. The install keeps its name, its domains, its core and its private folder. URLs in the database get its address, and the table prefix stays. A checkpoint, which is on by default, is a backup of the present website. It is put back if the imported website does not answer. A refused archive changes nothing.',
      tag: 'Installs',
      errors: [400, 401, 403, 404, 409, 429, 503],
      success: 202,
      starts: 'install.import',
      body: { resource: IMPORT, schema: importWebsiteSchema },
      async handle({ caller, id }, body) {
        const operationId = await imports.request(caller, id('install_id'), {
          source: readSource(body),
          checkpoint: body.create_checkpoint ?? true,
          notification_emails: body.notification_emails ?? [],
        });
        return new Started(operationId, undefined);
      },
    }),
    route({
      method: 'POST',
      path: '/installs/:install_id/import_key',
      operationId: 'createImportKey',
      needs: 'imports_by_ssh',
      summary: 'Create the key for imports by SSH',
      description:
        'Makes the key pair of this install for the old host of a website, and answers the public key. Later requests answer the same key, until it is renewed or deleted. Add it to `~/.ssh/authorized_keys` on the old host, and remove it after the import. The private key never leaves the platform and the host of the install.',
      tag: 'Installs',
      errors: [401, 403, 404, 409, 429, 503],
      success: 201,
      response: importKeySchema,
      handle: ({ caller, id }) => importKeys.provide(caller, id('install_id')),
    }),
    route({
      method: 'POST',
      path: '/installs/:install_id/import_key/renewal',
      operationId: 'renewImportKey',
      needs: 'imports_by_ssh',
      summary: 'Renew the key for imports by SSH',
      description:
        'Replaces the key pair of this install by another one, and answers its public key. The former key opens the old host no more, also for imports that wait. Replace it in `~/.ssh/authorized_keys` on the old host.',
      tag: 'Installs',
      errors: [401, 403, 404, 409, 429, 503],
      success: 201,
      response: importKeySchema,
      handle: ({ caller, id }) => importKeys.renew(caller, id('install_id')),
    }),
    route({
      method: 'DELETE',
      path: '/installs/:install_id/import_key',
      operationId: 'deleteImportKey',
      summary: 'Delete the key for imports by SSH',
      description:
        'Deletes the key pair of this install. Imports by SSH that wait fail and change nothing. Without a key, the answer is 404. Remove its public key from `~/.ssh/authorized_keys` on the old host, too.',
      tag: 'Installs',
      errors: [401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => importKeys.remove(caller, id('install_id')),
    }),
  ];
}
