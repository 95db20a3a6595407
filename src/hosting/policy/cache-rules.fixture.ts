/** Cases of the cache rules of an install, for the rules and for their copy in Lua. */

export const CACHE_RULES = {
  uncachedPaths: [
    { match: 'exact', path: '/live/' },
    { match: 'exact', path: '/' },
    { match: 'prefix', path: '/shop' },
    { match: 'prefix', path: '/a/é' },
  ],
  bypassCookies: ['region', 'price_list', 'cart-*'],
  ignoredParameters: ['ref', 'a_b'],
} as const;

/** A path as purges name it, and whether its pages are never cached. */
export const UNCACHED_CASES: [string, boolean][] = [
  ['', true],
  ['/live', true],
  ['/live/x', false],
  ['/lives', false],
  ['/shop', true],
  ['/shop/a/b', true],
  ['/shops', false],
  ['/a', false],
  ['/a/é/x', true],
];

/** A Cookie header, and whether its visitor bypasses the cache. */
export const COOKIE_CASES: [string, boolean][] = [
  ['', false],
  ['region=de', true],
  ['a=b; region=de', true],
  ['a=region; b=c', false],
  ['xregion=de', false],
  ['region', true],
  ['price.list=1', true],
  ['price list=1', true],
  ['price_list_2=1', false],
  ['a=b;cart-9=x', true],
  ['cart_9=x', false],
];

/** A path with query, the same without ignored parameters, and these. */
export const IGNORED_CASES: [string, string, string][] = [
  ['/?ref=x&b=1', '/?b=1', 'ref=x'],
  ['/?a.b=x', '/', 'a.b=x'],
  ['/?ref[]=x&refs=1', '/?ref[]=x&refs=1', ''],
  ['/?utm_source=x&ref=y', '/', 'utm_source=x&ref=y'],
];
