import { bodyRoute, type Route, Started } from '../../../api/route.ts';
import { component, stringEnum, Type } from '../../../api/schema.ts';
import { CACHE_KINDS } from '../../../hosting/contract/host.ts';
import { LONGEST_PAGE_PATH, MOST_PAGE_PATHS } from '../../../hosting/contract/page-path.ts';
import { PURGE_TYPES } from './jobs.ts';
import { faultOfPagePath } from './page-paths.ts';
import type { CacheService } from './service.ts';

/** The specification fixes this sentence, which does not name `all`. */
const invalidType = {
  summary: 'Invalid cache type',
  code: 'invalid_type',
  message: `Cache type must be one of: ${CACHE_KINDS.join(', ')}`,
};

const purgeCacheSchema = component(
  'PurgeCache',
  Type.Object({
    type: stringEnum(PURGE_TYPES),
    paths: Type.Optional(
      Type.Array(Type.String({ maxLength: LONGEST_PAGE_PATH }), {
        minItems: 1,
        maxItems: MOST_PAGE_PATHS,
        description:
          'only with type `page`: purges only these pages, under every host name of the install. Each path begins with `/`. Its query counts for nothing: a purge covers every query, and the path with and without a final `/`',
      }),
    ),
  }),
  { type: 'page', paths: ['/', '/news/'] },
);

/** A purge without `paths` empties the whole cache, so a misspelt field would do far more than its client asks for. */
const MISTAKEN_FOR_PATHS = Object.fromEntries(
  ['path', 'paths', 'page', 'pages', 'url', 'urls', 'uri', 'uris'].map((name) => [
    name,
    'Name the pages to purge in the field paths, such as "paths": ["/news/"]',
  ]),
);

export function cacheRoutes(caches: CacheService): Route[] {
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/purge_cache',
      operationId: 'purgeCache',
      summary: 'Purge a cache of an install',
      description:
        'Empties the object cache, the page cache, the cache of a CDN, or with `all` each cache that the install has, in one operation. With `paths`, it purges only these pages of the page cache; similar names, such as `path` and `urls`, are refused. The purge follows within moments. Object cache purges are limited to one every 60 seconds for each install; `all` counts as one.',
      tag: 'Caches',
      errors: [400, 401, 403, 404, 429, 503],
      success: 202,
      starts: 'cache.purge',
      body: {
        resource: 'Cache',
        schema: purgeCacheSchema,
        rules: { paths: faultOfPagePath },
        mistaken: MISTAKEN_FOR_PATHS,
        texts: { type: { invalid: invalidType, required: { ...invalidType, code: 'required' } } },
      },
      handle: async ({ caller, id }, body) =>
        new Started(
          await caches.purge(caller, id('install_id'), { cache: body.type, paths: body.paths }),
          undefined,
        ),
    }),
  ];
}
