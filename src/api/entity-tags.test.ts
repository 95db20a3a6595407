import { expect, it } from 'vitest';
import { codedTag, entityTag, isMatch, isNoneMatch } from './entity-tags.ts';

const tag = entityTag('{"a":1}');

it('is strong and depends on the content alone', () => {
  expect(tag).toMatch(/^"[\w-]+"$/);
  expect(entityTag('{"a":1}')).toBe(tag);
  expect(entityTag('{"a":2}')).not.toBe(tag);
});

it.each([
  [tag, true, true],
  ['*', true, true],
  [`"other", ${tag}`, true, true],
  [`W/${tag}`, false, true],
  [codedTag(tag, 'br'), true, true],
  [codedTag(tag, 'gzip'), true, true],
  ['"other"', false, false],
  ['', false, false],
  [tag.slice(1, -1), false, false],
  [codedTag(tag, 'xz'), false, false],
])('%s', (header, matches, noneMatches) => {
  expect(isMatch(header, tag)).toBe(matches);
  expect(isNoneMatch(header, tag)).toBe(noneMatches);
});
