import { textParameter } from '../../../api/query.ts';
import { queryRoute, type Route, route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import { attentionSchema, foundDomainSchema, foundThingSchema } from './schema.ts';
import type { SearchService } from './search.ts';
import type { OverviewService } from './service.ts';

export function overviewRoutes(overview: OverviewService, search: SearchService): Route[] {
  return [
    queryRoute({
      path: '/search',
      summary: 'Sites, installs and domains of all accounts of the person, by a text in their names',
      tag: 'Accounts',
      errors: [400, 401, 403, 429, 503],
      parameters: [textParameter('search', 'part of a name; left out or blank: nothing is found')],
      response: Type.Object({
        results: Type.Array(foundThingSchema, {
          description: 'what is called so first, then what begins so; of each kind the first few',
        }),
        more: Type.Boolean({ description: 'whether there are others' }),
      }),
      handle: ({ caller, query }) => search.find(caller, query.search ?? ''),
    }),
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
