import { textParameter } from '../../api/query.ts';
import { queryRoute, type Route, route } from '../../api/route.ts';
import { Type } from '../../api/schema.ts';
import { attentionSchema, foundDomainSchema } from './schema.ts';
import type { OverviewService } from './service.ts';

export function overviewRoutes(overview: OverviewService): Route[] {
  return [
    queryRoute({
      path: '/accounts/:account_id/domains',
      summary: 'Which installs of an account have a domain whose name holds a text',
      tag: 'Domains',
      errors: [400, 401, 403, 404, 429, 503],
      parameters: [textParameter('search', 'part of a name; left out: any')],
      response: Type.Object({ results: Type.Array(foundDomainSchema) }),
      handle: async ({ caller, id, query }) => ({
        results: await overview.findDomains(caller, id('account_id'), query.search ?? ''),
      }),
    }),
    route({
      method: 'GET',
      path: '/accounts/:account_id/attention',
      summary: 'The installs of an account that somebody should see to, and why',
      tag: 'Installs',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({ results: Type.Array(attentionSchema) }),
      handle: async ({ caller, id }) => ({
        results: await overview.attention(caller, id('account_id')),
      }),
    }),
  ];
}
