import { bodyRoute, type Route } from '../../../api/route.ts';
import { createLoginLinkSchema, loginLinkSchema } from './schema.ts';
import { LOGIN_LINK, type LoginLinkService } from './service.ts';

export function loginLinkRoutes(loginLinks: LoginLinkService): Route[] {
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/wordpress/login_links',
      operationId: 'createLoginLink',
      summary: 'Create a link that signs in to WordPress',
      description:
        'The link signs in as `user`, or as the oldest administrator, and opens wp-admin. It works once, for 60 seconds and for this install only. Each request creates another link, so `Idempotency-Key` has no effect. A user creates at most 30 links a minute.',
      tag: 'Installs',
      errors: [400, 401, 403, 404, 409, 429, 502, 503],
      needs: 'wordpress_login',
      isSecret: true,
      isRepeatable: true,
      success: 201,
      response: loginLinkSchema,
      body: { resource: LOGIN_LINK, schema: createLoginLinkSchema },
      async handle({ caller, id }, { user }) {
        const { url, expiresAt } = await loginLinks.create(caller, id('install_id'), user ?? null);
        return { url, expires_at: expiresAt };
      },
    }),
  ];
}
