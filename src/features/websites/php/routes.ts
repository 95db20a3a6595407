import { bodyRoute, type Route, route, Started } from '../../../api/route.ts';
import { phpSchema, updatePhpSchema } from './schema.ts';
import { PHP, type PhpService } from './service.ts';

export function phpRoutes(php: PhpService): Route[] {
  const tag = 'Installs';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/php',
      operationId: 'getPhp',
      summary: 'Get the PHP of an install',
      description:
        'Returns the version and the limits of PHP, with the defaults and what the operator allows. The most workers depend on `memory_limit`, because they share the memory of the install.',
      tag,
      errors: [401, 403, 404, 409, 429, 503],
      success: 200,
      response: phpSchema,
      handle: ({ caller, id }) => php.get(caller, id('install_id')),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/installs/:install_id/php',
      operationId: 'updatePhp',
      summary: 'Change the PHP limits of an install',
      description:
        'Changes the limits in the body; null returns one to its default. An operation checks the website before and after the change, and goes back if it is worse off. Until it has succeeded, the answers show the present limits. Switch the version with `PATCH /installs/{install_id}`.',
      tag,
      errors: [400, 401, 403, 404, 409, 429, 503],
      needs: 'php_limits',
      success: 200,
      starts: 'install.update_php_limits',
      response: phpSchema,
      body: { resource: PHP, schema: updatePhpSchema },
      async handle({ caller, id }, body) {
        const { operationId, view } = await php.update(caller, id('install_id'), body);
        return new Started(operationId, view);
      },
    }),
    route({
      method: 'POST',
      path: '/installs/:install_id/php/restart',
      operationId: 'restartPhp',
      summary: 'Restart the PHP of an install',
      description:
        'Ends the processes of PHP and starts others. Running requests have some seconds to end. Removes what former code left in memory, such as compiled files. Restart PHP after you have removed files of an attacker. Visitors wait for a moment.',
      tag,
      errors: [401, 403, 404, 409, 429, 503],
      success: 202,
      starts: 'install.restart_php',
      handle: async ({ caller, id }) => new Started(await php.restart(caller, id('install_id')), undefined),
    }),
  ];
}
