import { wordParameter } from '../../../api/query.ts';
import { pagedRoute, type Route, route, Started } from '../../../api/route.ts';
import { tagsParameter } from '../site-tags/schema.ts';
import { presentSummary, presentWordPress } from './present.ts';
import { wordpressSchema, wordpressSummarySchema } from './schema.ts';
import type { WordPressService } from './service.ts';

export function wordpressRoutes(wordpress: WordPressService): Route[] {
  const tag = 'WordPress';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/wordpress',
      operationId: 'getWordPress',
      summary: 'Get the WordPress of an install',
      description:
        'Returns the version of WordPress, its plugins, themes and administrators, available updates, and the result of Site Health. The host reads them every day, within minutes after a change, and when you refresh them. `read_at` says when; `error` says why it could not read them last time. Names are texts of the website.',
      tag,
      errors: [401, 404, 429, 503],
      success: 200,
      response: wordpressSchema,
      handle: async ({ caller, id }) => presentWordPress(await wordpress.get(caller, id('install_id'))),
    }),
    route({
      method: 'POST',
      path: '/installs/:install_id/wordpress/refresh',
      operationId: 'refreshWordPress',
      summary: 'Read the WordPress of an install again',
      description:
        'Lets WordPress ask for updates, examines its Site Health, and reads everything again. One request every 60 seconds.',
      tag,
      errors: [401, 403, 404, 409, 429, 503],
      needs: 'wordpress_details',
      success: 202,
      starts: 'wordpress.read',
      handle: async ({ caller, id }) =>
        new Started(await wordpress.refresh(caller, id('install_id')), undefined),
    }),
    pagedRoute({
      path: '/accounts/:account_id/wordpress',
      operationId: 'listAccountWordPress',
      summary: 'List the WordPress of the installs of an account',
      description:
        'Lists the installs that you may see by name, each with its version of WordPress and the number of waiting updates.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      item: wordpressSummarySchema,
      filters: [
        wordParameter('updates', ['waiting'], 'only installs with a waiting update'),
        tagsParameter('only installs whose site has all these tags, separated by commas'),
      ],
      async handle({ caller, id, page, filters }) {
        const waiting = filters.updates === 'waiting';
        const wanted = { waiting, ...(filters.tags === undefined ? {} : { tags: filters.tags }) };
        const { count, results } = await wordpress.ofAccount(caller, id('account_id'), wanted, page);
        return { count, results: results.map(presentSummary) };
      },
    }),
  ];
}
