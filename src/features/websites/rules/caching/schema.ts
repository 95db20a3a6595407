import { component, stringEnum, Type } from '../../../../api/schema.ts';
import type { BodyDefinition } from '../../../../api/validation.ts';
import {
  COOKIE_RULE,
  LONGEST_RULE_PATH,
  MOST_CACHE_RULES,
  PAGE_SECONDS,
  PARAMETER_NAME,
} from '../../../../hosting/contract/website-rules.ts';
import { faultOfRulePath } from '../rule-paths.ts';

const uncachedPaths = Type.Array(
  component(
    'UncachedPath',
    Type.Object({
      match: stringEnum(['exact', 'prefix'], '`prefix`: the path and everything below it'),
      path: Type.String({
        maxLength: LONGEST_RULE_PATH,
        description: 'begins with `/`; a final `/` counts for nothing',
      }),
    }),
    { match: 'prefix', path: '/members' },
  ),
  { maxItems: MOST_CACHE_RULES, description: 'pages that are never cached' },
);
const bypassCookies = Type.Array(Type.String({ pattern: COOKIE_RULE }), {
  maxItems: MOST_CACHE_RULES,
  description:
    'names of cookies whose visitors bypass the cache, besides those of logins, carts and sessions; a final `*` matches any ending',
});
const ignoredParameters = Type.Array(Type.String({ pattern: PARAMETER_NAME }), {
  maxItems: MOST_CACHE_RULES,
  description:
    'names of query parameters that do not change a page, besides those of campaigns. WordPress does not see them when it makes a page for the cache',
});
const maxAge = Type.Integer({
  minimum: PAGE_SECONDS.least,
  maximum: PAGE_SECONDS.most,
  description: `seconds; no cached page is older. ${PAGE_SECONDS.usual} by default. Changes in WordPress purge pages at once anyway`,
});

const example = {
  uncached_paths: [{ match: 'prefix' as const, path: '/members' }],
  bypass_cookies: ['price_list', 'wishlist_*'],
  ignored_parameters: ['ref'],
  max_age: 600,
};

export const cacheRulesSchema = component(
  'CacheRules',
  Type.Object(
    {
      uncached_paths: uncachedPaths,
      bypass_cookies: bypassCookies,
      ignored_parameters: ignoredParameters,
      max_age: maxAge,
    },
    { description: 'What the page cache of an install keeps, and for how long' },
  ),
  example,
);

const updateCacheRulesSchema = component(
  'UpdateCacheRules',
  Type.Object({
    uncached_paths: Type.Optional(uncachedPaths),
    bypass_cookies: Type.Optional(bypassCookies),
    ignored_parameters: Type.Optional(ignoredParameters),
    max_age: Type.Optional(maxAge),
  }),
  { max_age: 600 },
);

export const updateCacheRulesBody: BodyDefinition<typeof updateCacheRulesSchema> = {
  resource: 'CacheRules',
  schema: updateCacheRulesSchema,
  rules: { 'uncached_paths.path': faultOfRulePath },
  texts: {
    bypass_cookies: {
      invalid: {
        message:
          'A name of a cookie is 1 to 64 letters, digits, _ and -, with a * at its end for any ending; PHP reads dots and spaces as _',
      },
    },
    ignored_parameters: {
      invalid: {
        message: 'A name of a parameter is 1 to 64 letters, digits, _ and -; PHP reads dots and spaces as _',
      },
    },
  },
};
