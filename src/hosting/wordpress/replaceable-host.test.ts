import { expect, test } from 'vitest';
import { isReplaceableHost } from './replaceable-host.ts';

test.each([
  'example.com',
  'localhost:8080',
  'old-.example.com',
  'staging..example.com',
  `${'x'.repeat(64)}.example.com`,
])('URLs of the host %s can be replaced', (host) => {
  expect(isReplaceableHost(host)).toBe(true);
});

test.each(['', '-old.example.com', 'example.com/', 'a b', "a'b", 'a\nb', '../a', 'example.com:123456'])(
  'URLs of %j cannot be replaced',
  (host) => {
    expect(isReplaceableHost(host)).toBe(false);
  },
);
