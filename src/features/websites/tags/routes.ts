import { bodyRoute, type Route, route } from '../../../api/route.ts';
import {
  accountTagListSchema,
  accountTagSchema,
  changedTagsSchema,
  changeTagsSchema,
  removedTagSchema,
  removeTagSchema,
  renameTagSchema,
} from './schema.ts';
import type { TagService } from './service.ts';

export function tagRoutes(tags: TagService): Route[] {
  const shared = { tag: 'Sites', errors: [400, 401, 403, 404, 429, 503] as const };
  return [
    route({
      ...shared,
      method: 'GET',
      path: '/accounts/:account_id/tags',
      operationId: 'listTags',
      summary: 'List the tags of an account',
      description:
        'Lists the tags that sites of the account have, in alphabetical order on one page, with the number of sites and installs that you may see. Installs have the tags of their site.',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: accountTagListSchema,
      handle: async ({ caller, id }) => ({ results: await tags.list(caller, id('account_id')) }),
    }),
    bodyRoute({
      ...shared,
      method: 'POST',
      path: '/accounts/:account_id/tags/change',
      operationId: 'changeTags',
      summary: 'Add tags to many sites, or remove them',
      description:
        'Removes tags from the named sites and the sites of the named installs, then adds others: on all of them or on none. Requires the role owner or full.',
      success: 200,
      response: changedTagsSchema,
      body: { resource: 'Tag', schema: changeTagsSchema },
      async handle({ caller, id }, { add = [], remove = [], site_ids = [], install_ids = [] }) {
        const { changed, withoutSite } = await tags.change(
          caller,
          id('account_id'),
          { site_ids, install_ids },
          { add, remove },
        );
        return {
          changed: changed.map(({ id: site_id, name, tags, formerTags }) => ({
            site_id,
            name,
            tags,
            former_tags: formerTags,
          })),
          without_site: withoutSite,
        };
      },
    }),
    bodyRoute({
      ...shared,
      method: 'POST',
      path: '/accounts/:account_id/tags/rename',
      operationId: 'renameTag',
      summary: 'Rename a tag of an account',
      description:
        'Renames a tag in all sites of the account at once. If the account has a tag of the new name, both become one. Requires the role owner or full.',
      success: 200,
      response: accountTagSchema,
      body: { resource: 'Tag', schema: renameTagSchema },
      handle: ({ caller, id }, { name, new_name }) => tags.rename(caller, id('account_id'), name, new_name),
    }),
    bodyRoute({
      ...shared,
      method: 'POST',
      path: '/accounts/:account_id/tags/remove',
      operationId: 'removeTag',
      summary: 'Remove a tag from all sites of an account',
      description: 'Removes a tag from all sites of the account at once. Requires the role owner or full.',
      success: 200,
      response: removedTagSchema,
      body: { resource: 'Tag', schema: removeTagSchema },
      async handle({ caller, id }, { name }) {
        const siteIds = await tags.remove(caller, id('account_id'), name);
        return { site_count: siteIds.length, site_ids: siteIds };
      },
    }),
  ];
}
