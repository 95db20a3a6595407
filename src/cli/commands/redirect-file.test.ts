import { expect, test } from 'vitest';
import { readRedirectFile } from './redirect-file.ts';

test.each([
  ['', []],
  ['\n\n', []],
  ['/a,/b', [{ from: '/a', to: '/b' }]],
  [
    '/a , /b\r\n/c,/d,302\r\n',
    [
      { from: '/a', to: '/b' },
      { from: '/c', to: '/d', status: 302 },
    ],
  ],
  ['\uFEFFfrom,to\n/a,/b', [{ from: '/a', to: '/b' }]],
  [
    'Status,To,From,Match,keep_query\n308,/b,^/a(.*)$,regex,FALSE\n,/d,/c,,',
    [
      { from: '^/a(.*)$', to: '/b', status: 308, match: 'regex', keep_query: false },
      { from: '/c', to: '/d' },
    ],
  ],
  ['"/a,1","/b ""x""",,Prefix,true', [{ from: '/a,1', to: '/b "x"', match: 'prefix', keep_query: true }]],
])('%j', (text, redirects) => {
  expect(readRedirectFile(text)).toEqual(redirects);
});

test.each([
  ['/a', 'Line 1 needs the columns from and to.'],
  ['/a,/b\n\n/c,', 'Line 3 needs the columns from and to.'],
  ['/a,/b,303', 'Line 1: the status must be one of 301, 302, 307, 308, and is "303".'],
  ['/a,/b,301,wild', 'Line 1: the match must be one of exact, prefix, regex, and is "wild".'],
  ['/a,/b,301,exact,yes', 'Line 1: keep_query must be one of true, false, and is "yes".'],
  ['/a,/b,301,exact,true,x', 'Line 1 has 6 columns, more than 5.'],
  ['from,to,code\n/a,/b,1', 'The column "code" is unknown; use from, to, status, match, keep_query.'],
  ['/a,/b\n"/c,/d', 'Line 2 is no CSV: a quote is missing or in the wrong place.'],
  ['/a"b,/c', 'Line 1 is no CSV: a quote is missing or in the wrong place.'],
])('%j is refused', (text, message) => {
  expect(() => readRedirectFile(text)).toThrow(message);
});
