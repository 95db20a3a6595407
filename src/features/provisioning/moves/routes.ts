import { bodyRoute, type Route, route, Started } from '../../../api/route.ts';
import { moveRequestSchema, moveSchema } from './schema.ts';
import { type createMoveService, MOVE } from './service.ts';

/** Moves of installs between hosts, for operators. */
export function moveRoutes(
  moves: Pick<ReturnType<typeof createMoveService>, 'get' | 'begin' | 'beginReturn'>,
): Route[] {
  const tag = 'Installs';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/move',
      operationId: 'getMove',
      summary: 'Get the host of an install and its latest move',
      description:
        'Returns the host of the install, the other hosts with the reason why it cannot move there, and the latest move of the last 30 days. For operators of the platform only.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: moveSchema,
      handle: ({ caller, id }) => moves.get(caller, id('install_id')),
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/move',
      operationId: 'moveInstall',
      summary: 'Move an install to another host',
      description:
        'Moves the website with its backups. It serves while it is copied. At the end, visitors can read it and not change it for some seconds. If anything fails before the new host takes over, the website stays where it was. Cancel the operation until then. For operators of the platform only.',
      tag,
      errors: [400, 401, 403, 404, 409, 429, 503],
      success: 202,
      starts: 'install.move',
      body: { resource: MOVE, schema: moveRequestSchema },
      handle: async ({ caller, id }, { host }) =>
        new Started(await moves.begin(caller, id('install_id'), host), undefined),
    }),
    route({
      method: 'POST',
      path: '/installs/:install_id/move/return',
      operationId: 'returnInstall',
      summary: 'Return an install to its former host',
      description:
        'Gives up a new host that is lost while it takes over, and brings back the copy of the former host. Loses what `return_loss` of `GET /installs/{install_id}/move` says. 409 while the new host answers. For operators of the platform only.',
      tag,
      errors: [401, 403, 404, 409, 429, 503],
      success: 202,
      starts: 'install.move',
      handle: async ({ caller, id }) =>
        new Started(await moves.beginReturn(caller, id('install_id')), undefined),
    }),
  ];
}
