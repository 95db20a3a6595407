import { bodyRoute, pagedRoute, type Route, route, Started } from '../../../../api/route.ts';
import {
  createRedirectBody,
  importedRedirectsSchema,
  importRedirectsBody,
  redirectSchema,
  updateRedirectBody,
} from './schema.ts';
import type { RedirectService } from './service.ts';

export function redirectRoutes(redirects: RedirectService): Route[] {
  const tag = 'Rules';
  return [
    pagedRoute({
      path: '/installs/:install_id/redirects',
      operationId: 'listRedirects',
      summary: 'List the redirects of an install',
      description: 'Lists the redirects of paths in their order. The first one that matches counts.',
      tag,
      errors: [401, 403, 404, 429, 503],
      item: redirectSchema,
      handle: ({ caller, id, page }) => redirects.list({ caller, installId: id('install_id') }, page),
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/redirects',
      operationId: 'createRedirect',
      summary: 'Add a redirect to an install',
      description:
        'Adds a redirect at a position, by default at the end. The edge obeys within moments, before files and WordPress, on every host name of the install. Redirects that would lead visitors in a circle are refused.',
      link: { operationId: 'getRedirect', ids: { redirect_id: '/id' } },
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 201,
      starts: 'install.apply',
      response: redirectSchema,
      body: createRedirectBody,
      async handle({ caller, id }, body) {
        const { redirect, operationId } = await redirects.create(
          { caller, installId: id('install_id') },
          body,
        );
        return new Started(operationId, redirect);
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/redirects/import',
      operationId: 'importRedirects',
      summary: 'Add many redirects to an install',
      description:
        'Adds up to 500 redirects, all or none, after those that the install has or in place of them.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 200,
      starts: 'install.apply',
      response: importedRedirectsSchema,
      body: importRedirectsBody,
      async handle({ caller, id }, body) {
        const { count, total, operationId } = await redirects.import(
          { caller, installId: id('install_id') },
          body,
        );
        return new Started(operationId, { count, total });
      },
    }),
    route({
      method: 'GET',
      path: '/installs/:install_id/redirects/:redirect_id',
      operationId: 'getRedirect',
      summary: 'Get a redirect',
      description: 'Returns one redirect with its place in the list.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: redirectSchema,
      handle: ({ caller, id }) => redirects.get({ caller, installId: id('install_id') }, id('redirect_id')),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/installs/:install_id/redirects/:redirect_id',
      operationId: 'updateRedirect',
      summary: 'Change or move a redirect',
      description:
        'Changes the given fields and keeps the others. `position` moves the redirect in the list.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 200,
      starts: 'install.apply',
      response: redirectSchema,
      body: updateRedirectBody,
      async handle({ caller, id }, body) {
        const { redirect, operationId } = await redirects.update(
          { caller, installId: id('install_id') },
          id('redirect_id'),
          body,
        );
        return new Started(operationId, redirect);
      },
    }),
    route({
      method: 'DELETE',
      path: '/installs/:install_id/redirects/:redirect_id',
      operationId: 'deleteRedirect',
      summary: 'Delete a redirect',
      description: 'Deletes a redirect. The edge obeys within moments.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 202,
      starts: 'install.apply',
      handle: async ({ caller, id }) =>
        new Started(
          await redirects.remove({ caller, installId: id('install_id') }, id('redirect_id')),
          undefined,
        ),
    }),
  ];
}
