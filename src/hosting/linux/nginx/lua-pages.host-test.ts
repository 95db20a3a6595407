import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  CACHE_RULES,
  COOKIE_CASES,
  IGNORED_CASES,
  UNCACHED_CASES,
} from '../../policy/cache-rules.fixture.ts';
import {
  CAMPAIGN_PARAMETERS,
  CAMPAIGN_PREFIX,
  locationWithCampaign,
  splitCampaign,
} from '../../policy/campaign-parameters.ts';
import {
  CAMPAIGN_CASES,
  CASES_AT,
  KEEPING_CASES,
  LOCATION_CASES,
  PERSONAL_CASES,
  VARY_CASES,
} from '../../policy/page-cases.fixture.ts';
import { keepingOf, type PageAnswer, varyWithoutEncoding } from '../../policy/page-keeping.ts';
import { PERSONAL_PARAMETER, PERSONAL_SEGMENTS } from '../../policy/personal-pages.ts';
import { type LuaModules, startLuaModules } from './lua-modules.fixture.ts';

// The rules of the page cache in Lua are those in TypeScript.

let lua: LuaModules;
beforeAll(async () => {
  lua = await startLuaModules();
  await lua.call('page-key', 'configure', [
    [CAMPAIGN_PARAMETERS, CAMPAIGN_PREFIX, PERSONAL_SEGMENTS, PERSONAL_PARAMETER],
  ]);
});
afterAll(() => lua.close());

/** An answer as Lua gets it. */
function luaAnswer(answer: PageAnswer): object {
  return {
    status: answer.status,
    cache_control: answer.cacheControl,
    expires_at: answer.expiresAt === null ? false : answer.expiresAt,
    x_accel_expires: answer.xAccelExpires,
    x_accel_buffering: answer.xAccelBuffering,
    vary: answer.vary,
    sets_cookie: answer.setsCookie,
    content_type: answer.contentType,
    content_length: answer.contentLength,
    content_encoding: answer.contentEncoding,
  };
}

test.each([60, 10, 3_600])('answers are kept, pages at most %i s', async (seconds) => {
  const answers = KEEPING_CASES.map(([answer]) => answer);
  const results = await lua.call(
    'keeping',
    'of',
    answers.map((answer) => [luaAnswer(answer), CASES_AT, seconds]),
  );
  for (const [index, answer] of answers.entries()) {
    const keeping = keepingOf(answer, CASES_AT, seconds);
    const expected = keeping === null ? [null, null] : [keeping.fresh, keeping.stale, keeping.onError];
    expect(results[index]?.slice(0, 3), JSON.stringify(answer)).toEqual(expected);
  }
});

test('Vary loses Accept-Encoding', async () => {
  const values = VARY_CASES.map(([vary]) => vary);
  const results = await lua.call(
    'keeping',
    'vary_without_encoding',
    values.map((vary) => [vary]),
  );
  expect(results.map(([rest]) => rest)).toEqual(values.map(varyWithoutEncoding));
});

test('campaign parameters leave the address', async () => {
  const addresses = [
    ...CAMPAIGN_CASES.map(([address]) => address),
    ...CAMPAIGN_PARAMETERS.map((name) => `/?a&${name}=1`),
  ];
  const results = await lua.call(
    'page-key',
    'split',
    addresses.map((address) => [address]),
  );
  for (const [index, address] of addresses.entries()) {
    const { uri, campaign } = splitCampaign(address);
    expect(results[index], address).toEqual([uri, campaign]);
  }
});

test('personal pages are known by path and query', async () => {
  const calls = PERSONAL_CASES.map(([uri]) => [uri]);
  const results = await lua.call('page-key', 'is_personal', calls);
  for (const [index, [uri, personal]] of PERSONAL_CASES.entries()) {
    expect(results[index]?.[0], uri).toBe(personal);
  }
});

test('purges name paths as visitors do', async () => {
  const cases = [
    ['/', ''],
    ['/a+b/%C3%A4//?x', '/a+b/ä'],
    ['/a%2Fb%zz', '/a/b%zz'],
    ['/x#y', '/x'],
    ['//a///b/', '/a/b'],
  ];
  const results = await lua.call(
    'page-key',
    'path_of',
    cases.map(([uri]) => [uri]),
  );
  expect(results.map(([path]) => path)).toEqual(cases.map(([, path]) => path));
});

test('redirects get them back', async () => {
  const host = 'shop.test:8080';
  const calls = LOCATION_CASES.map(([location, campaign]) => [location, host, campaign]);
  const results = await lua.call('page-key', 'with_campaign', calls);
  expect(results.map(([location]) => location)).toEqual(
    LOCATION_CASES.map(([location, campaign]) => locationWithCampaign(location, host, campaign)),
  );
});

test('the rules of an install', async () => {
  const [[rules] = []] = await lua.call('cache-rules', 'of', [[{ pages: CACHE_RULES }]]);
  const results = async (name: string, cases: [string, boolean][]) =>
    (
      await lua.call(
        'cache-rules',
        name,
        cases.map(([text]) => [rules, text]),
      )
    ).map(([result]) => result);
  expect(await results('is_uncached', UNCACHED_CASES)).toEqual(
    UNCACHED_CASES.map(([, expected]) => expected),
  );
  expect(await results('has_cookie', COOKIE_CASES)).toEqual(COOKIE_CASES.map(([, expected]) => expected));
  const ignored = { ref: true, a_b: true };
  const split = await lua.call(
    'page-key',
    'split',
    IGNORED_CASES.map(([address]) => [address, ignored]),
  );
  expect(split).toEqual(IGNORED_CASES.map(([, uri, parameters]) => [uri, parameters]));
});
