import { expect, test } from 'vitest';
import { RATE_LIMITS, rateLimitKey } from './rate-limits.ts';

const prefixes = Object.values(RATE_LIMITS).map(({ keyPrefix }) => `${keyPrefix}:`);

test('no two rate limits share a key', () => {
  const shared = prefixes.filter((prefix, index) =>
    prefixes.some((other, position) => position !== index && prefix.startsWith(other)),
  );
  expect(shared).toEqual([]);
});

test('a key is the prefix and the subject', () => {
  expect(rateLimitKey(RATE_LIMITS.portalRequests, 'a')).toBe('person:a');
  expect(rateLimitKey(RATE_LIMITS.codesByUserAndAddress, 'a', '192.0.2.1')).toBe(
    'codes:person-address:a:192.0.2.1',
  );
});
