import { expect, test } from 'vitest';
import { parsePattern } from './path-pattern.ts';
import { PATH_REDIRECTS } from './path-redirects.fixture.ts';
import { loadPatternEngine } from './pattern-engine.ts';

test.each([
  ['^/a$', '^/a\\z', 0],
  ['/(a|b)?/(?:c)', '/(a|b)?/(?:c)', 1],
  ['[^/]+\\.html?$', '[^/]+\\.html?\\z', 0],
  ['[a-z0-9_\\-]{2,5}?', '[a-z0-9_\\-]{2,5}?', 0],
  ['[-a]', '[\\-a]', 0],
  ['[a-]', '[a\\-]', 0],
  ['[\\d-x]', '[\\d\\-x]', 0],
  ['[$]', '[$]', 0],
  ['\\$', '\\$', 0],
  ['é*', 'é*', 0],
  ['', '', 0],
])('%s for PCRE is %s', (text, pcre, groups) => {
  expect(parsePattern(text)).toMatchObject({ pcre, groups });
});

test.each([
  ['(a+)+$', 'a group cannot be repeated with +'],
  ['(a|a)*', 'a group cannot be repeated with *'],
  ['(ab){2,}', 'a group cannot be repeated with {2,}'],
  ['(a', 'a ( has no )'],
  ['a)', 'a ) has no ('],
  ['[a', 'a [ has no ]'],
  ['[]a]', 'a set is empty'],
  ['[^]', 'a set is empty'],
  ['[[:alpha:]]', 'write \\[ for the character ['],
  ['[z-a]', 'the range z-a ends before it begins'],
  ['[a-\\d]', 'a range ends with a class'],
  ['*a', 'a * follows nothing'],
  ['a|+', 'a + follows nothing'],
  ['a**', '* is followed by another repetition'],
  ['a*+', '* is followed by another repetition'],
  ['^*', '^ and $ cannot be repeated'],
  ['a{200}', 'more than 100 times'],
  ['a{5,2}', '{5,2} ends before it begins'],
  ['a{x}', 'write \\{ for the character {'],
  ['(?=a)', 'groups with (? are not supported'],
  ['(?<n>a)', 'groups with (? are not supported'],
  ['(?i)a', 'groups with (? are not supported'],
  ['(a)\\1', 'references to groups'],
  ['\\bx', '\\b is not supported'],
  ['\\p{L}', '\\p is not supported'],
  ['\\Ka', '\\K is not supported'],
  ['a\\', 'it ends with a \\'],
  ['a\nb', 'control characters'],
  ['()'.repeat(10), 'more than 9 groups'],
  ['(?:'.repeat(12), 'nested too deeply'],
  ['a'.repeat(257), 'more than 256 characters'],
])('%s is refused', (text, reason) => {
  expect(() => parsePattern(text)).toThrow(reason);
});

test('the largest numbers of repetitions add up', () => {
  expect(parsePattern('[a-z]{0,100}a{1}').repeats).toBe(101);
  expect(parsePattern('(a{100}|b{90,})?c{0,1}d+').repeats).toBe(191);
});

test('RE2 reads what is accepted', async () => {
  const match = await loadPatternEngine();
  for (const { match: kind, from } of PATH_REDIRECTS) if (kind === 'regex') match(from, '/');
  // Every accepted character on its own, and escaped.
  for (let code = 0x20; code < 0x7f; code++) {
    for (const text of [
      String.fromCharCode(code),
      `\\${String.fromCharCode(code)}`,
      `[${String.fromCharCode(code)}]`,
    ]) {
      try {
        parsePattern(text);
      } catch {
        continue;
      }
      expect(() => match(text, '/'), text).not.toThrow();
    }
  }
});
