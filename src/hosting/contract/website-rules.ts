import Type from 'typebox';

/** Rules of an install for its visitors, as its customer chose them. */

const closed = { additionalProperties: false };
const OrNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** An address or a range of addresses in its usual form: `192.0.2.7`, `2001:db8::/32`. */
const AddressRangeSchema = Type.String({ maxLength: 43, pattern: '^[0-9a-f.:]+(/\\d{1,3})?$' });

/** Ranges of addresses in one list. */
export const MOST_RANGES = 200;

const RangesSchema = Type.Array(AddressRangeSchema, { maxItems: MOST_RANGES });

/** The user name that visitors enter; it needs no quoting anywhere. */
export const VISITOR_NAME = '^[A-Za-z0-9._@-]{1,64}$';

/** Redirects of one install, and those of them with a regular expression, which a request tests one after the other. */
export const MOST_REDIRECTS = 500;
export const MOST_PATTERNS = 50;

export const LONGEST_RULE_PATH = 1_024;
export const LONGEST_PATTERN = 256;
export const LONGEST_TARGET = 2_048;

export const REDIRECT_MATCHES = ['exact', 'prefix', 'regex'] as const;
export const REDIRECT_STATUSES = [301, 302, 307, 308] as const;

const RedirectSchema = Type.Object(
  {
    match: Type.Enum([...REDIRECT_MATCHES]),
    /** A decoded path, or a regular expression in the syntax of `policy/path-pattern.ts`. */
    from: Type.String({ minLength: 1, maxLength: LONGEST_RULE_PATH }),
    /** An URL or a path of the website. With a regular expression, `$1` to `$9` are its groups. */
    to: Type.String({ minLength: 1, maxLength: LONGEST_TARGET }),
    status: Type.Enum([...REDIRECT_STATUSES]),
    keepQuery: Type.Boolean(),
  },
  closed,
);

/** Entries of each list of {@link CacheRules}. */
export const MOST_CACHE_RULES = 100;

/** The longest time that visitors may see a page of before a change that purges nothing, in seconds. */
export const PAGE_SECONDS = { least: 10, usual: 60, most: 3_600 };

/** A name of a cookie, or of the cookies that begin with it: `cart`, `cart_*`. In the characters that PHP keeps. */
export const COOKIE_RULE = '^[A-Za-z0-9_-]{1,64}\\*?$';
/** A name of a query parameter as PHP reads it. */
export const PARAMETER_NAME = '^[A-Za-z0-9_-]{1,64}$';

const CacheRulesSchema = Type.Object(
  {
    /** Decoded paths whose pages are never cached. */
    uncachedPaths: Type.Array(
      Type.Object(
        {
          match: Type.Enum(['exact', 'prefix']),
          path: Type.String({ minLength: 1, maxLength: LONGEST_RULE_PATH }),
        },
        closed,
      ),
      { maxItems: MOST_CACHE_RULES },
    ),
    /** Visitors with such a cookie bypass the cache. */
    bypassCookies: Type.Array(Type.String({ pattern: COOKIE_RULE }), { maxItems: MOST_CACHE_RULES }),
    /** Query parameters that make no other page. */
    ignoredParameters: Type.Array(Type.String({ pattern: PARAMETER_NAME }), { maxItems: MOST_CACHE_RULES }),
    /** A page is at most this old. */
    pageSeconds: Type.Integer({ minimum: PAGE_SECONDS.least, maximum: PAGE_SECONDS.most }),
  },
  closed,
);

export const WebsiteRulesSchema = Type.Object(
  {
    /** Refuses XML-RPC. */
    blockXmlrpc: Type.Boolean(),
    /** Keeps search engines away from every name, and not only from the default domain. */
    noindex: Type.Boolean(),
    blockedAddresses: RangesSchema,
    /** Asks visitors for a name and a password. */
    password: OrNull(
      Type.Object(
        {
          user: Type.String({ pattern: VISITOR_NAME }),
          /** A hash of `hashVisitorPassword`. */
          hash: Type.String({ maxLength: 200 }),
          /** Visitors from these addresses need none. */
          exemptAddresses: RangesSchema,
          /** Signs passes for the website's own requests and for signed-in users (`policy/visitor-pass.ts`). */
          passKey: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
        },
        closed,
      ),
    ),
    redirects: Type.Array(RedirectSchema, { maxItems: MOST_REDIRECTS }),
    /** Null: the usual rules. */
    cache: OrNull(CacheRulesSchema),
  },
  closed,
);

export type WebsiteRules = Type.Static<typeof WebsiteRulesSchema>;
export type PathRedirect = WebsiteRules['redirects'][number];
export type CacheRules = NonNullable<WebsiteRules['cache']>;

/** The rules of an install whose customer chose none. */
export const NO_RULES: WebsiteRules = {
  blockXmlrpc: false,
  noindex: false,
  blockedAddresses: [],
  password: null,
  redirects: [],
  cache: null,
};
