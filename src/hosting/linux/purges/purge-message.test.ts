import { expect, test } from 'vitest';
import { MOST_PAGE_PATHS } from '../../contract/page-path.ts';
import { mergePages, parsePurgeMessage } from './purge-message.ts';

const paths = (...list: unknown[]) => JSON.stringify({ paths: list });

test('reads paths and everything', () => {
  expect(parsePurgeMessage('{"everything":true}')).toBe('everything');
  expect(parsePurgeMessage(paths('/', '/caf%C3%A9/', '/größe/', '/a..b/.well-known/'))).toEqual([
    '/',
    '/caf%C3%A9/',
    '/größe/',
    '/a..b/.well-known/',
  ]);
});

test.each([
  '',
  '{',
  'null',
  '"everything"',
  '["/a"]',
  '{"everything":1}',
  '{"everything":true,"install":"5b8a3f0e-0000-4000-8000-000000000000"}',
  '{"paths":["/a"],"everything":true}',
  '{"paths":"/a"}',
  '{"paths":{"0":"/a"}}',
  '{"__proto__":{"everything":true}}',
  paths(),
  paths('/a', 1),
  paths(null),
  paths('a'),
  paths(''),
  paths('https://example.com/a'),
  paths('//example.com/a'),
  paths('/a/../b'),
  paths('/..'),
  paths('/./'),
  paths('/a?b'),
  paths('/a#b'),
  paths('/a\nb'),
  paths('/a\0'),
  paths(`/${'a'.repeat(2_048)}`),
  paths(...Array.from({ length: MOST_PAGE_PATHS + 1 }, (_, n) => `/${n}`)),
])('refuses %.60s', (line) => {
  expect(parsePurgeMessage(line)).toBeNull();
});

test('merges', () => {
  expect(mergePages(['/a', '/b'], ['/b', '/c'])).toEqual(['/a', '/b', '/c']);
  expect(mergePages('everything', ['/a'])).toBe('everything');
  expect(mergePages(['/a'], 'everything')).toBe('everything');
  const many = Array.from({ length: MOST_PAGE_PATHS }, (_, n) => `/${n}`);
  expect(mergePages(many, many)).toHaveLength(MOST_PAGE_PATHS);
  expect(mergePages(many, ['/a'])).toBe('everything');
});
