import { bodyRoute, type Route, Started } from '../../../api/route.ts';
import { importWebsiteSchema } from './schema.ts';
import { IMPORT, type ImportService, readSource } from './service.ts';

export function importRoutes(imports: ImportService): Route[] {
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/imports',
      operationId: 'importWebsite',
      summary: 'Import an existing website',
      description:
        'Replaces the website of an install by an existing one from an archive: `.zip` or `.tar.gz` with `wp-content` and one dump (`.sql` or `.sql.gz`), or a backup of All-in-One WP Migration, Duplicator (`.zip`) or UpdraftPlus. The install keeps its name, its domains, its core and its private folder. URLs in the database get its address, and the table prefix stays. A checkpoint, which is on by default, is a backup of the present website. It is put back if the imported website does not answer. A refused archive changes nothing.',
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
  ];
}
