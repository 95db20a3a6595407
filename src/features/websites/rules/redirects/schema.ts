import { EXAMPLE_ID } from '../../../../api/example-ids.ts';
import { component, stringEnum, Type, uuid } from '../../../../api/schema.ts';
import type { BodyDefinition } from '../../../../api/validation.ts';
import {
  LONGEST_RULE_PATH,
  LONGEST_TARGET,
  MOST_PATTERNS,
  MOST_REDIRECTS,
  REDIRECT_MATCHES,
  REDIRECT_STATUSES,
} from '../../../../hosting/contract/website-rules.ts';

const match = stringEnum(
  REDIRECT_MATCHES,
  '`exact`: the path, with or without a final `/`; `prefix`: also everything below, whose rest is appended to the target; `regex`: a regular expression for the decoded path',
);
const from = Type.String({
  minLength: 1,
  maxLength: LONGEST_RULE_PATH,
  description:
    'a path that begins with `/`, without a query; or a regular expression of at most 256 characters. It can have sets, groups, `|`, `*`, `+`, `?`, `{n,m}` (numbers add up to at most 200), `^`, `$`, `\\d`, `\\w`. Groups cannot be repeated',
});
const to = Type.String({
  minLength: 1,
  maxLength: LONGEST_TARGET,
  description:
    'a path of the website or an `http` or `https` URL; `$1` to `$9` are the groups of a regular expression',
});
const status = Type.Unsafe<(typeof REDIRECT_STATUSES)[number]>({
  type: 'integer',
  enum: [...REDIRECT_STATUSES],
  description:
    '301 and 308 are permanent: browsers remember them. 307 and 308 keep the method of the request',
});
const keepQuery = Type.Boolean({ description: "whether the visitor's query is appended to the target" });
const position = Type.Integer({
  minimum: 1,
  maximum: MOST_REDIRECTS,
  description: 'place in the list: the first redirect that matches counts',
});

export const redirectSchema = component(
  'Redirect',
  Type.Object(
    { id: uuid(), position, match, from, to, status, keep_query: keepQuery },
    { description: 'A redirect of paths of a website' },
  ),
  {
    id: EXAMPLE_ID.redirect,
    position: 1,
    match: 'exact' as const,
    from: '/old-page',
    to: '/new-page/',
    status: 301 as const,
    keep_query: true,
  },
);

const newRedirect = {
  match: Type.Optional(match),
  from,
  to,
  status: Type.Optional(status),
  keep_query: Type.Optional(keepQuery),
};

const createRedirectSchema = component(
  'CreateRedirect',
  Type.Object({ ...newRedirect, position: Type.Optional(position) }),
  { from: '/old-page', to: '/new-page/' },
);

const importRedirectsSchema = component(
  'ImportRedirects',
  Type.Object({
    redirects: Type.Array(
      component('RedirectToImport', Type.Object(newRedirect), {
        from: '/old-page',
        to: '/new-page/',
        status: 301,
      }),
      { minItems: 1, maxItems: MOST_REDIRECTS },
    ),
    replace: Type.Optional(
      Type.Boolean({
        description: 'whether they replace all redirects of the install; by default they follow them',
      }),
    ),
  }),
  { redirects: [{ from: '/old-page', to: '/new-page/' }], replace: false },
);

const updateRedirectSchema = component(
  'UpdateRedirect',
  Type.Object({
    match: Type.Optional(match),
    from: Type.Optional(from),
    to: Type.Optional(to),
    status: Type.Optional(status),
    keep_query: Type.Optional(keepQuery),
    position: Type.Optional(position),
  }),
  { to: '/newest-page/' },
);

export const importedRedirectsSchema = component(
  'ImportedRedirects',
  Type.Object({
    count: Type.Integer({ description: 'redirects that were added' }),
    total: Type.Integer({
      description: `redirects of the install; at most ${MOST_REDIRECTS}, and ${MOST_PATTERNS} of them with a regular expression`,
    }),
  }),
  { count: 1, total: 1 },
);

const resource = 'Redirect';

export const createRedirectBody: BodyDefinition<typeof createRedirectSchema> = {
  resource,
  schema: createRedirectSchema,
};
export const importRedirectsBody: BodyDefinition<typeof importRedirectsSchema> = {
  resource,
  schema: importRedirectsSchema,
};
export const updateRedirectBody: BodyDefinition<typeof updateRedirectSchema> = {
  resource,
  schema: updateRedirectSchema,
};
