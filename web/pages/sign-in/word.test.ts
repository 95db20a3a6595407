import { expect, test } from 'vitest';
import { sentenceOf, stateWith } from './word.ts';

test('a word that came along is said, and nothing else is', () => {
  expect(sentenceOf(stateWith('password_set'))).toEqual({
    sentence: 'Your password is set. Sign in with it now.',
    good: true,
  });
  expect(sentenceOf(stateWith('ended'))?.good).toBe(false);
  for (const other of [null, undefined, 'ended', {}, { word: 'toString' }, { word: 7 }]) {
    expect(sentenceOf(other)).toBeNull();
  }
});
