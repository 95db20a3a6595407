import { expect, it } from 'vitest';
import { wordpressPasswordHash } from './password-hash.ts';

it('is the portable hash that WordPress checks', () => {
  // The result of PasswordHash in WordPress 6.1 for this password and the salt `abcdefgh`.
  const salt = Buffer.from([230, 137, 166, 234, 202, 182]);
  expect(wordpressPasswordHash('correct horse', salt)).toBe('$P$5abcdefghAwHMLXeh48xCQuy..94JO/');
});

it('depends on the password and on the salt', () => {
  const salt = Buffer.from([1, 2, 3, 4, 5, 6]);
  const hash = wordpressPasswordHash('a', salt);
  expect(wordpressPasswordHash('a', salt)).toBe(hash);
  expect(wordpressPasswordHash('b', salt).slice(0, 12)).toBe(hash.slice(0, 12));
  expect(wordpressPasswordHash('b', salt)).not.toBe(hash);
  expect(wordpressPasswordHash('a', Buffer.from([1, 2, 3, 4, 5, 7]))).not.toBe(hash);
  expect(() => wordpressPasswordHash('a', Buffer.alloc(5))).toThrow(RangeError);
});
