import { hostNameParameter, idParameter, textParameter, wordParameter } from '../../../api/query.ts';
import { bodyRoute, type Route, route, Started } from '../../../api/route.ts';
import { sharedAnswers } from '../../../api/shared-answer.ts';
import { sortedRoute } from '../../../api/sorted-route.ts';
import { tagsParameter } from '../site-tags/schema.ts';
import { presentInstall } from './present.ts';
import {
  createInstallSchema,
  ENVIRONMENTS,
  INSTALL_SORTS,
  INSTALL_STATUSES,
  installSchema,
  updateInstallSchema,
} from './schema.ts';
import type { InstallService } from './service.ts';

export function installRoutes(installs: InstallService, siteDomain: string): Route[] {
  const tag = 'Installs';
  // Clients poll it, so an unchanged install is presented and serialised once.
  const readInstall = sharedAnswers((install: Parameters<typeof presentInstall>[0]) =>
    presentInstall(install, siteDomain),
  );
  return [
    sortedRoute({
      path: '/installs',
      operationId: 'listInstalls',
      summary: 'List installs',
      description: 'Lists the installs that you may see, oldest first.',
      tag,
      errors: [400, 401, 429, 503],
      item: installSchema,
      filters: [
        idParameter('account_id'),
        textParameter('name', 'only the install with this name'),
        wordParameter('status', INSTALL_STATUSES, 'only installs with this status'),
        wordParameter('environment', ENVIRONMENTS, 'only installs in this environment'),
        idParameter('site_id'),
        hostNameParameter('domain', 'only installs with this domain'),
        tagsParameter('only installs whose site has all these tags, separated by commas'),
      ],
      sorts: INSTALL_SORTS,
      async handle({ caller, page, filters }) {
        const { results, ...places } = await installs.list(caller, page, filters);
        return { ...places, results: results.map((install) => presentInstall(install, siteDomain)) };
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs',
      operationId: 'createInstall',
      summary: 'Create an install',
      description:
        'Creates an install and starts to build its website. `status` is `pending` until the website answers, then `active`. Requires the role owner or full.',
      link: { operationId: 'getInstall', ids: { install_id: '/id' } },
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 201,
      starts: 'install.create',
      response: installSchema,
      body: {
        resource: 'Installation',
        schema: createInstallSchema,
        texts: {
          name: {
            required: { summary: 'Install name is required', message: 'Installation name cannot be empty' },
            invalid: {
              summary: 'Invalid install name',
              message:
                'Installation name must be 3 to 40 lower-case letters, digits or hyphens, begin with a letter and not end with a hyphen',
            },
          },
        },
      },
      async handle({ caller }, body) {
        const install = await installs.create(caller, body);
        return new Started(install.operationId, presentInstall(install, siteDomain));
      },
    }),
    route({
      method: 'GET',
      path: '/installs/:install_id',
      operationId: 'getInstall',
      summary: 'Get an install',
      description: 'Returns one install. Poll it after creating one until `status` is no longer `pending`.',
      tag,
      errors: [401, 404, 429, 503],
      success: 200,
      response: installSchema,
      handle: async ({ caller, id }) => readInstall(await installs.get(caller, id('install_id'))),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/installs/:install_id',
      operationId: 'updateInstall',
      summary:
        'Move an install to another site or environment, switch its PHP, or defer upgrades of WordPress',
      description:
        '`{"site_id": null}` detaches the install from its site and clears its environment. `defer_wordpress_upgrades_until` keeps the operator from upgrading WordPress until then. `php_version` starts an operation, which checks the website before and after the switch and goes back if it is worse off. Until it has succeeded, the answers show the present version.',
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 200,
      starts: 'install.update_php',
      response: installSchema,
      body: { resource: 'Installation', schema: updateInstallSchema },
      async handle({ caller, id }, body) {
        const install = await installs.update(caller, id('install_id'), body);
        return new Started(install.operationId, presentInstall(install, siteDomain));
      },
    }),
    route({
      method: 'DELETE',
      path: '/installs/:install_id',
      operationId: 'deleteInstall',
      summary: 'Delete an install',
      description:
        'Deletes an install with its website and domains. A last backup is made first. The backups are kept for 14 days, if the operator has not set another time: `POST /deleted_installs/{deleted_install_id}/restore`.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => installs.remove(caller, id('install_id')),
    }),
  ];
}
