import { idParameter, textParameter } from '../../../api/query.ts';
import { bodyRoute, type Route, route } from '../../../api/route.ts';
import type { Static } from '../../../api/schema.ts';
import { sortedRoute } from '../../../api/sorted-route.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import { tagsParameter } from '../site-tags/schema.ts';
import { createSiteSchema, SITE_SORTS, siteNameTexts, siteSchema, updateSiteSchema } from './schema.ts';
import type { SiteService, SiteView } from './service.ts';

function presentSite(site: SiteView, siteDomain: string): Static<typeof siteSchema> {
  return {
    id: site.id,
    name: site.name,
    account: { id: site.account_id },
    group_name: null,
    tags: site.tags,
    installs: site.installs.map(({ id, name, environment, php_version }) => ({
      id,
      name,
      environment,
      cname: defaultDomain(name, siteDomain),
      php_version,
      is_multisite: false,
    })),
    sandbox: site.sandbox,
    transferable: site.transferable,
    created_at: site.created_at,
  };
}

export function siteRoutes(sites: SiteService, siteDomain: string): Route[] {
  const tag = 'Sites';
  const texts = { name: siteNameTexts };
  return [
    sortedRoute({
      path: '/sites',
      operationId: 'listSites',
      summary: 'List sites',
      description: 'Lists the sites that you may see, oldest first, with their installs.',
      tag,
      errors: [400, 401, 429, 503],
      item: siteSchema,
      filters: [
        idParameter('account_id'),
        textParameter('name', 'only sites with this name'),
        tagsParameter('only sites with all these tags, separated by commas'),
      ],
      sorts: SITE_SORTS,
      async handle({ caller, page, filters }) {
        const { results, ...places } = await sites.list(caller, page, filters);
        return { ...places, results: results.map((site) => presentSite(site, siteDomain)) };
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/sites',
      operationId: 'createSite',
      summary: 'Create a site',
      description:
        'Creates an empty site. Create installs with its `site_id` next. Requires the role owner or full.',
      link: { operationId: 'getSite', ids: { site_id: '/id' } },
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 201,
      response: siteSchema,
      body: { resource: 'Site', schema: createSiteSchema, texts },
      handle: async ({ caller }, body) => presentSite(await sites.create(caller, body), siteDomain),
    }),
    route({
      method: 'GET',
      path: '/sites/:site_id',
      operationId: 'getSite',
      summary: 'Get a site with its installs',
      description: 'Returns one site. Partial users see only the installs granted to them.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: siteSchema,
      handle: async ({ caller, id }) => presentSite(await sites.get(caller, id('site_id')), siteDomain),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/sites/:site_id',
      operationId: 'updateSite',
      summary: 'Rename a site, or change its tags or type',
      description:
        'Changes the name, the tags or the type of a site. Names need not be unique. `tags` replaces all tags: they are trimmed and sorted, and each is kept once in the spelling that other sites of the account use.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 200,
      response: siteSchema,
      body: { resource: 'Site', schema: updateSiteSchema, texts },
      handle: async ({ caller, id }, body) =>
        presentSite(await sites.update(caller, id('site_id'), body), siteDomain),
    }),
    route({
      method: 'DELETE',
      path: '/sites/:site_id',
      operationId: 'deleteSite',
      summary: 'Delete a site with its installs',
      description:
        'Deletes a site, its installs and their websites. The installs can be restored for a while, the site cannot.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => sites.remove(caller, id('site_id')),
    }),
  ];
}
