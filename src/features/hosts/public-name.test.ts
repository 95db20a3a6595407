import { expect, test } from 'vitest';
import { parsePublicName } from './public-name.ts';

test.each([
  ['web2.example.com', 'web2.example.com'],
  ['Web2.Example.COM.', 'web2.example.com'],
  ['web2', 'web2'],
  ['203.0.113.7', '203.0.113.7'],
  ['2001:DB8:0::7', '2001:db8::7'],
])('%s is kept as %s', (text, kept) => {
  expect(parsePublicName(text)).toBe(kept);
});

test.each([
  '',
  ' ',
  '.',
  'https://web2.example.com',
  'web2.example.com:22',
  '[2001:db8::7]',
  'fe80::1%eth0',
  '10.1',
  '0.0.0.0',
  '::',
  '*.example.com',
  'web2.example.com -oProxyCommand=x',
  '-oProxyCommand=x',
  'münchen.example',
  'a..example',
  'web_2.example',
  'a%20b.example',
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(126)}example`,
])('"%s" is refused', (text) => {
  expect(() => parsePublicName(text)).toThrow(
    /^The public name of a host is a host name or an address, like/,
  );
});
