import { bodyRoute, type Route, route, Started } from '../../../../api/route.ts';
import { cacheRulesSchema, updateCacheRulesBody } from './schema.ts';
import type { CacheRulesService } from './service.ts';

export function cacheRulesRoutes(cacheRules: CacheRulesService): Route[] {
  const tag = 'Rules';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/cache_rules',
      operationId: 'getCacheRules',
      summary: 'Get the rules of the page cache of an install',
      description: 'Returns what the page cache keeps, beyond the rules that count for every WordPress.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: cacheRulesSchema,
      handle: ({ caller, id }) => cacheRules.get({ caller, installId: id('install_id') }),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/installs/:install_id/cache_rules',
      operationId: 'updateCacheRules',
      summary: 'Change the rules of the page cache of an install',
      description:
        'Changes the given fields and keeps the others; lists are replaced. A change also purges the page cache. Hosts that serve files only have no page cache and answer 400.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 200,
      starts: 'install.apply',
      response: cacheRulesSchema,
      body: updateCacheRulesBody,
      async handle({ caller, id }, body) {
        const { cacheRules: present, operationId } = await cacheRules.update(
          { caller, installId: id('install_id') },
          body,
        );
        return new Started(operationId, present);
      },
    }),
  ];
}
