import { textParameter } from '../../../api/query.ts';
import { queryRoute, type Route, route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import { attentionSchema, foundDomainSchema, foundThingSchema, onboardingSchema } from './schema.ts';
import type { SearchService } from './search.ts';
import type { OverviewService } from './service.ts';

export function overviewRoutes(overview: OverviewService, search: SearchService): Route[] {
  return [
    queryRoute({
      path: '/search',
      operationId: 'search',
      summary: 'Search sites, installs and domains in all accounts of the user',
      tag: 'Accounts',
      errors: [400, 401, 403, 429, 503],
      parameters: [textParameter('search', 'part of a name; without it, nothing is found')],
      response: Type.Object({
        results: Type.Array(foundThingSchema, {
          description: 'exact matches first, then prefixes; the first few of each kind',
        }),
        more: Type.Boolean({ description: 'whether there are more' }),
      }),
      handle: ({ caller, query }) => search.find(caller, query.search ?? ''),
    }),
    queryRoute({
      path: '/accounts/:account_id/domains',
      operationId: 'listDomainsOfAccount',
      summary: 'Installs of an account with a domain whose name contains a text',
      tag: 'Domains',
      errors: [400, 401, 403, 404, 429, 503],
      parameters: [textParameter('search', 'part of a name; without it, any name matches')],
      response: Type.Object({ results: Type.Array(foundDomainSchema) }),
      handle: async ({ caller, id, query }) => ({
        results: await overview.findDomains(caller, id('account_id'), query.search ?? ''),
      }),
    }),
    route({
      method: 'GET',
      path: '/accounts/:account_id/attention',
      operationId: 'listInstallsInNeedOfAttention',
      summary: 'Installs of an account that need attention, with reasons',
      tag: 'Installs',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({ results: Type.Array(attentionSchema) }),
      handle: async ({ caller, id }) => ({
        results: await overview.attention(caller, id('account_id')),
      }),
    }),
    route({
      method: 'GET',
      path: '/accounts/:account_id/onboarding',
      operationId: 'getOnboarding',
      summary: 'Which first steps were taken in an account',
      tag: 'Accounts',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: onboardingSchema,
      handle: ({ caller, id }) => overview.onboarding(caller, id('account_id')),
    }),
  ];
}
