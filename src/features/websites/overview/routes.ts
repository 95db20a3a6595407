import { MAXIMUM_LIMIT } from '../../../api/paging.ts';
import { exampleIdOf } from '../../../api/path-parameters.ts';
import {
  idParameter,
  type QueryParameter,
  type QueryValues,
  refusedQuery,
  textParameter,
  wholeParameter,
  wordParameter,
} from '../../../api/query.ts';
import { queryRoute, type Route, route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { ENVIRONMENTS, INSTALL_STATUSES } from '../installs/schema.ts';
import { tagsParameter } from '../site-tags/schema.ts';
import { ATTENTION, LIST_SORTS, NONE } from './install-conditions.ts';
import { SITE_SORTS } from './listed-sites.ts';
import {
  attentionSchema,
  foundThingSchema,
  listedInstallSchema,
  listedSiteSchema,
  onboardingSchema,
  selectedInstallSchema,
} from './schema.ts';
import type { SearchService } from './search.ts';
import type { OverviewService } from './service.ts';

const FILTERS = [
  textParameter('search', 'part of a name or of a domain'),
  wordParameter('status', [ATTENTION, ...INSTALL_STATUSES], 'a status, or those that need attention'),
  wordParameter('environment', [NONE, ...ENVIRONMENTS], 'an environment, or those without one'),
  siteParameter(),
  tagsParameter('tags of the site, separated by commas: all of them'),
] as const;

const DEFAULT_LIMIT = 50;
const PAGE = [
  wholeParameter('limit', 'items in a page; over 100 counts as 100', DEFAULT_LIMIT),
  wholeParameter('offset', 'items to skip', 0),
] as const;

const sortParameter = (sorts: readonly string[]) =>
  wordParameter(
    'sort',
    sorts.flatMap((sort) => [sort, `-${sort}`]),
    'with `-`, descending',
  );

const requestOf = ({ sort = 'name', ...page }: QueryValues<'sort' | 'limit' | 'offset'>) => ({
  sort,
  ...pageOf(page),
});

const pageOf = ({ limit, offset }: QueryValues<'limit' | 'offset'>) => ({
  limit: Math.min(Number(limit ?? DEFAULT_LIMIT), MAXIMUM_LIMIT),
  offset: Number(offset ?? 0),
});

export function overviewRoutes(overview: OverviewService, search: SearchService): Route[] {
  return [
    queryRoute({
      path: '/search',
      operationId: 'search',
      summary: 'Search sites, installs and domains in all accounts of the user',
      tag: 'Accounts',
      errors: [400, 401, 403, 429, 503],
      parameters: [
        textParameter('search', 'part of a name; without it, nothing is found'),
        idParameter('account_id'),
      ],
      response: Type.Object({
        results: Type.Array(foundThingSchema, {
          description:
            'exact matches first, then prefixes; the first few of each kind. Beyond 10,000 installs or sites, the newest are searched, and names of installs and domains that begin with the text',
        }),
        more: Type.Boolean({ description: 'whether there are more' }),
      }),
      handle: ({ caller, query }) => search.find(caller, query.search ?? '', query.account_id),
    }),
    queryRoute({
      path: '/accounts/:account_id/installs',
      operationId: 'listInstallsOfAccount',
      summary: 'Installs of an account as its list shows them, sorted and filtered',
      tag: 'Installs',
      errors: [400, 401, 403, 404, 429, 503],
      parameters: [...FILTERS, sortParameter(LIST_SORTS), ...PAGE],
      response: Type.Object({
        total: Type.Integer({ description: 'installs that the caller may see' }),
        count: Type.Integer({ description: 'installs that match, on all pages' }),
        results: Type.Array(listedInstallSchema),
      }),
      handle: ({ caller, id, query: { sort, limit, offset, ...filters }, disconnected }) => {
        const request = requestOf({ sort, limit, offset });
        return overview.listInstalls(caller, id('account_id'), filters, request, disconnected());
      },
    }),
    queryRoute({
      path: '/accounts/:account_id/sites',
      operationId: 'listSitesOfAccount',
      summary: 'Sites of an account with their installs as the list shows them, sorted and filtered',
      tag: 'Sites',
      errors: [400, 401, 403, 404, 429, 503],
      parameters: [
        textParameter('search', 'part of a name of the site or its installs, or of a domain'),
        tagsParameter('tags separated by commas: all of them'),
        sortParameter(SITE_SORTS),
        ...PAGE,
      ],
      response: Type.Object({
        total: Type.Integer({ description: 'sites that the caller may see' }),
        count: Type.Integer({ description: 'sites that match, on all pages' }),
        unassigned: Type.Integer({ description: 'installs without a site, counted up to 10,000' }),
        results: Type.Array(listedSiteSchema),
      }),
      handle: ({ caller, id, query: { search, tags, ...request }, disconnected }) =>
        overview.listSites(caller, id('account_id'), { search, tags }, requestOf(request), disconnected()),
    }),
    queryRoute({
      path: '/accounts/:account_id/matching_installs',
      operationId: 'listMatchingInstalls',
      summary: 'All installs of an account that match, for a selection; at most 10,000',
      tag: 'Installs',
      errors: [400, 401, 403, 404, 429, 503],
      parameters: [...FILTERS, idsParameter()],
      response: Type.Object({ results: Type.Array(selectedInstallSchema) }),
      handle: async ({ caller, id, query: { ids, ...filters }, disconnected }) => ({
        results: await overview.selectInstalls(
          caller,
          id('account_id'),
          filters,
          ids?.split(','),
          disconnected(),
        ),
      }),
    }),
    queryRoute({
      path: '/accounts/:account_id/attention',
      operationId: 'listInstallsInNeedOfAttention',
      summary: 'Installs of an account that need attention, with reasons; failed ones first',
      tag: 'Installs',
      errors: [400, 401, 403, 404, 429, 503],
      parameters: [idParameter('install_id'), ...PAGE],
      response: Type.Object({
        count: Type.Integer({ description: 'installs that need attention, on all pages' }),
        results: Type.Array(attentionSchema),
      }),
      handle: ({ caller, id, query: { install_id, ...request } }) =>
        overview.attention(caller, id('account_id'), { installId: install_id, ...pageOf(request) }),
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

/** The ID of a site, or `none`. */
function siteParameter(): QueryParameter<'site'> {
  return {
    name: 'site',
    schema: { type: 'string', description: 'id of a site, or `none` for installs without one' },
    example: NONE,
    read(text) {
      const id = text === NONE ? NONE : parseUuid(text);
      if (id === undefined) throw refusedQuery('site', `site must be an id or ${NONE}`);
      return id;
    },
  };
}

/** The IDs of installs, separated by commas. */
function idsParameter(): QueryParameter<'ids'> {
  return {
    name: 'ids',
    schema: { type: 'string', description: `only these installs: up to ${MAXIMUM_LIMIT} ids with commas` },
    example: exampleIdOf('install_id'),
    read(text) {
      const ids = text.split(',').map(parseUuid);
      if (ids.length > MAXIMUM_LIMIT || ids.includes(undefined))
        throw refusedQuery('ids', `ids must be up to ${MAXIMUM_LIMIT} ids, separated by commas`);
      return ids.join(',');
    },
  };
}
