import { expect, test } from 'vitest';
import { CACHE_RULES, COOKIE_CASES, IGNORED_CASES, UNCACHED_CASES } from './cache-rules.fixture.ts';
import { hasBypassCookie, isUncached } from './cache-rules.ts';
import { splitCampaign } from './campaign-parameters.ts';

const rules = {
  uncachedPaths: [...CACHE_RULES.uncachedPaths],
  bypassCookies: [...CACHE_RULES.bypassCookies],
};

test.each(UNCACHED_CASES)('pages at %j', (path, expected) => {
  expect(isUncached(rules, path)).toBe(expected);
});

test.each(COOKIE_CASES)('cookies %j', (header, expected) => {
  expect(hasBypassCookie(rules, header)).toBe(expected);
});

test.each(IGNORED_CASES)('%s without ignored parameters', (uri, without, ignored) => {
  expect(splitCampaign(uri, CACHE_RULES.ignoredParameters)).toEqual({ uri: without, campaign: ignored });
});
