import { type Route, route } from '../../../api/route.ts';
import { databaseLinkSchema } from './schema.ts';
import type { DatabaseLinkService } from './service.ts';

export function databaseLinkRoutes(databaseLinks: DatabaseLinkService): Route[] {
  return [
    route({
      method: 'POST',
      path: '/installs/:install_id/database/login_links',
      operationId: 'createDatabaseLink',
      summary: 'Create a link that opens the database',
      description:
        'The link opens the database of the install in a browser, with adminer or phpMyAdmin. It works once, for 60 seconds and for this install only. The session ends after 30 minutes without a request, and after 8 hours. Each request creates another link, so `Idempotency-Key` has no effect. A user creates at most 30 links a minute, those to WordPress included.',
      tag: 'Installs',
      errors: [401, 403, 404, 409, 429, 502, 503],
      needs: 'database_access',
      isSecret: true,
      isRepeatable: true,
      success: 201,
      response: databaseLinkSchema,
      async handle({ caller, id }) {
        const { url, expiresAt } = await databaseLinks.create(caller, id('install_id'));
        return { url, expires_at: expiresAt };
      },
    }),
  ];
}
