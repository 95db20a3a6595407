import type { Keeping, PageAnswer } from './page-keeping.ts';
import { ANSWERED_VARY } from './page-request-headers.ts';

/** Cases of the page cache's rules, for the rules themselves and for their copy in Lua. */

/** The time of the cases, in milliseconds. */
export const CASES_AT = Date.parse('2026-03-01T12:00:00.500Z');

const HTML = { status: 200, contentType: 'text/html; charset=UTF-8' };
const FULL: Keeping = { fresh: 40, stale: 19, onError: true };
const after = (seconds: number) => CASES_AT + seconds * 1000;

export const KEEPING_CASES: [PageAnswer, Keeping | null][] = [
  [HTML, FULL],
  [{ ...HTML, status: 203 }, FULL],
  ...[301, 302, 307, 308, 404, 410].map((status): [PageAnswer, Keeping] => [
    { ...HTML, status },
    { fresh: 10, stale: 0, onError: false },
  ]),
  ...[100, 201, 204, 206, 300, 303, 304, 400, 401, 403, 429, 500, 502, 503].map(
    (status): [PageAnswer, null] => [{ ...HTML, status }, null],
  ),
  [{ ...HTML, setsCookie: true }, null],
  // Patterns would take seconds.
  [{ ...HTML, cacheControl: `a${' '.repeat(31_000)}b` }, null],
  [{ ...HTML, vary: `a${' '.repeat(31_000)}b` }, null],
  [{ ...HTML, setsCookie: true, xAccelExpires: '60' }, null],
  ...[
    'no-store',
    'private',
    'no-cache, must-revalidate, max-age=0',
    'NO-CACHE',
    'public, max-age=0',
    'private="x-secret"',
    'max-age=600, s-maxage=0',
    ' , no-store',
    'no-cache="set-cookie"',
  ].map((cacheControl): [PageAnswer, null] => [{ ...HTML, cacheControl }, null]),
  ...(
    [
      ['', FULL],
      ['public', FULL],
      ['max-age=600', FULL],
      ['max-age = 7', { ...FULL, fresh: 7 }],
      ['max-age="7"', { ...FULL, fresh: 7 }],
      ['Max-Age=7, max-age=0', { ...FULL, fresh: 7 }],
      ['max-age=1', { ...FULL, fresh: 1 }],
      ['max-age=0, s-maxage=5', { ...FULL, fresh: 5 }],
      ['max-age=-1', FULL],
      ['max-age=99999999999999999999', FULL],
      ['no-store-really', FULL],
      ['max-age=600, must-revalidate', { fresh: 40, stale: 0, onError: false }],
      ['proxy-revalidate', { fresh: 40, stale: 0, onError: false }],
      ['stale-while-revalidate=3', { ...FULL, stale: 3 }],
      ['stale-while-revalidate=0', { ...FULL, stale: 0 }],
      ['stale-while-revalidate=86400', FULL],
      ['a=b=c,,=,x', FULL],
    ] as [string, Keeping][]
  ).map(([cacheControl, keeping]): [PageAnswer, Keeping] => [{ ...HTML, cacheControl }, keeping]),
  [
    { ...HTML, expiresAt: after(5) },
    { ...FULL, fresh: 5 },
  ],
  [{ ...HTML, expiresAt: after(500) }, FULL],
  [{ ...HTML, expiresAt: after(0.5) }, null],
  [{ ...HTML, expiresAt: after(-500) }, null],
  [{ ...HTML, expiresAt: null }, null],
  [
    { ...HTML, expiresAt: null, cacheControl: 'max-age=9' },
    { ...FULL, fresh: 9 },
  ],
  [{ ...HTML, xAccelExpires: '0' }, null],
  [
    { ...HTML, xAccelExpires: '12', cacheControl: 'no-cache', expiresAt: null },
    { ...FULL, fresh: 12 },
  ],
  [{ ...HTML, xAccelExpires: '86400' }, FULL],
  [
    { ...HTML, xAccelExpires: `@${Math.floor(CASES_AT / 1000) + 6}` },
    { ...FULL, fresh: 6 },
  ],
  [{ ...HTML, xAccelExpires: `@${Math.floor(CASES_AT / 1000) - 6}` }, null],
  [{ ...HTML, xAccelExpires: 'off', cacheControl: 'no-store' }, null],
  [
    { ...HTML, status: 404, xAccelExpires: '600' },
    { fresh: 10, stale: 0, onError: false },
  ],
  [{ ...HTML, xAccelBuffering: 'No' }, null],
  [{ ...HTML, xAccelBuffering: 'yes' }, FULL],
  [{ ...HTML, vary: 'Accept-Encoding, Cookie' }, FULL],
  [{ ...HTML, vary: '*' }, null],
  [{ ...HTML, vary: 'Cookie , *' }, null],
  [{ ...HTML, vary: 'Accept-Encoding, User-Agent' }, null],
  [{ ...HTML, vary: 'X-Theme' }, null],
  ...[...ANSWERED_VARY].map((name): [PageAnswer, Keeping] => [{ ...HTML, vary: name.toUpperCase() }, FULL]),
  [{ ...HTML, contentEncoding: 'gzip' }, null],
  [{ ...HTML, contentEncoding: '' }, FULL],
  [{ ...HTML, contentLength: '9999999' }, FULL],
  [{ ...HTML, contentLength: '10000000' }, null],
  [{ ...HTML, contentLength: '1e3' }, null],
  [{ status: 200, contentType: 'application/zip', contentLength: '3000000' }, FULL],
  [{ status: 200 }, null],
  ...[
    'text/plain',
    'TEXT/HTML',
    'image/png',
    'font/woff2',
    'application/json',
    'application/ld+json; charset=utf-8',
    'application/rss+xml',
    'application/xml ',
    'application/javascript',
    'application/x-javascript;x',
  ].map((contentType): [PageAnswer, Keeping] => [{ status: 200, contentType }, FULL]),
  ...[
    'text/event-stream',
    'application/zip',
    'application/octet-stream',
    'application/jsonp',
    'application/y-javascript',
    'application/xmlfoo',
    'application/json/x',
    'video/mp4',
    'xtext/html',
    '',
  ].map((contentType): [PageAnswer, null] => [{ status: 200, contentType }, null]),
];

export const VARY_CASES: [string, string][] = [
  ['Accept-Encoding', ''],
  ['accept-encoding,Cookie', 'Cookie'],
  [' Cookie ,ACCEPT-ENCODING , User-Agent', 'Cookie, User-Agent'],
  ['X-Accept-Encoding', 'X-Accept-Encoding'],
  ['', ''],
];

/** A path with query, the same without campaign parameters, and these. */
export const CAMPAIGN_CASES: [string, string, string][] = [
  ['/', '/', ''],
  ['/?', '/?', ''],
  ['/?a=1&&b', '/?a=1&&b', ''],
  ['/?utm_source=x', '/', 'utm_source=x'],
  ['/?utm_', '/', 'utm_'],
  ['/p/?b=2&utm_medium=m&a=1&fbclid=%20', '/p/?b=2&a=1', 'utm_medium=m&fbclid=%20'],
  ['/?gclid&x', '/?x', 'gclid'],
  ['/?xgclid=1&gclid2=2&UTM_source=3&putm_x', '/?xgclid=1&gclid2=2&UTM_source=3&putm_x', ''],
  ['/?a=utm_source=x', '/?a=utm_source=x', ''],
  ['/utm_source=x', '/utm_source=x', ''],
  ['/?q=1?utm_source=2&msclkid=a=b', '/?q=1?utm_source=2', 'msclkid=a=b'],
  // As PHP reads them.
  ['/?utm%5Fsource=x&+utm.medium=y&gclid%00z', '/', 'utm%5Fsource=x&+utm.medium=y&gclid%00z'],
  ['/?utm[x]=1&utm_x[]=2&gclid[=3&%zz=4', '/?utm[x]=1&utm_x[]=2&gclid[=3&%zz=4', ''],
];

/** A path with query, and whether its answers may be individual. */
export const PERSONAL_CASES: [string, boolean][] = [
  ['/', false],
  ['/cart', true],
  ['/shop/CART/?a', true],
  ['/carts/', false],
  ['/a?/cart/', false],
  ['/c%61rt/', true],
  ['/%2Fcart', true],
  ['/wp%2Djson/wp/v2/posts', true],
  ['/index.php/wp-json/', true],
  ['/?rest_route=/', true],
  ['/?a&rest.route=/', true],
  ['/?+rest+route=/', true],
  ['/?%72est%5froute', true],
  ['/?rest[route=/', true],
  ['/?rest_route[]=/', true],
  ['/?rest_route%00x=/', true],
  ['/?a=rest_route=', false],
  ['/?forest_route=/', false],
  ['/?REST_ROUTE=/', false],
];

/** A location, the visitor's campaign parameters, and the location for a visitor of `shop.test:8080`. */
export const LOCATION_CASES: [string, string, string][] = [
  ['/x/', 'gclid=1', '/x/?gclid=1'],
  ['/x/?a=1#top', 'gclid=1', '/x/?a=1&gclid=1#top'],
  ['http://shop.test:8080/x', 'gclid=1', 'http://shop.test:8080/x?gclid=1'],
  ['HTTPS://SHOP.test:8080', 'gclid=1', 'HTTPS://SHOP.test:8080?gclid=1'],
  ['https://shop.test/x', 'gclid=1', 'https://shop.test/x'],
  ['https://shop.test:8080@evil.test/', 'gclid=1', 'https://shop.test:8080@evil.test/'],
  ['https://shop.test:8080\\@evil.test/', 'gclid=1', 'https://shop.test:8080\\@evil.test/?gclid=1'],
  ['//shop.test:8080/x', 'gclid=1', '//shop.test:8080/x'],
  ['/\\evil.test/', 'gclid=1', '/\\evil.test/'],
  ['mailto:a@shop.test:8080', 'gclid=1', 'mailto:a@shop.test:8080'],
  ['x/y', 'gclid=1', 'x/y'],
  ['/x/', '', '/x/'],
];
