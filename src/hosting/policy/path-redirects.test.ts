import { expect, test } from 'vitest';
import {
  PATH_REDIRECT_CASES,
  PATH_REDIRECTS,
  REDIRECT_ALL,
  REDIRECT_ALL_CASES,
  SLOW_PATTERNS,
} from './path-redirects.fixture.ts';
import { pathRedirect } from './path-redirects.ts';
import { loadPatternEngine } from './pattern-engine.ts';

const match = await loadPatternEngine();

test.each(PATH_REDIRECT_CASES)('%s?%s', (path, query, expected) => {
  const found = pathRedirect(PATH_REDIRECTS, path, query, match);
  expect(found && [found.to, found.status]).toEqual(expected);
});

test.each(REDIRECT_ALL_CASES)('everything: %s?%s', (path, query, expected) => {
  const found = pathRedirect(REDIRECT_ALL, path, query, match);
  expect(found && [found.to, found.status]).toEqual(expected);
});

test.each(SLOW_PATTERNS)('a slow expression ends: %s', (pattern, path) => {
  expect(() => match(pattern, path)).not.toThrow();
});
