import { expect, test } from 'vitest';
import { CASES_AT, KEEPING_CASES, VARY_CASES } from './page-cases.fixture.ts';
import { keepingOf, varyWithoutEncoding } from './page-keeping.ts';

test('an answer is kept as long as the rules and its headers say', () => {
  for (const [answer, keeping] of KEEPING_CASES) {
    expect(keepingOf(answer, CASES_AT), JSON.stringify(answer)).toEqual(keeping);
  }
});

test('no page is older than a minute', () => {
  for (const [answer] of KEEPING_CASES) {
    const { fresh = 0, stale = 0 } = keepingOf(answer, CASES_AT) ?? {};
    expect(fresh + stale, JSON.stringify(answer)).toBeLessThan(60);
  }
});

test('Vary loses Accept-Encoding, which the cache answers', () => {
  for (const [vary, rest] of VARY_CASES) expect(varyWithoutEncoding(vary)).toBe(rest);
});
