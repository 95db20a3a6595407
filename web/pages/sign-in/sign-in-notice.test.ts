import { expect, test } from 'vitest';
import { emailOf, noticeState, sentenceOf } from './sign-in-notice.ts';

test('reads known notices from the history state', () => {
  expect(sentenceOf(noticeState('password_set'))).toEqual({
    sentence: 'Your password is set. Sign in with it.',
    good: true,
  });
  expect(sentenceOf(noticeState('ended'))?.good).toBe(false);
  for (const other of [null, undefined, 'ended', {}, { word: 'toString' }, { word: 7 }]) {
    expect(sentenceOf(other)).toBeNull();
    expect(emailOf(other)).toBe('');
  }
});

test('reads the email address from the history state', () => {
  expect(emailOf(noticeState('accepted', 'ada@people.example'))).toBe('ada@people.example');
  expect(emailOf(noticeState('ended'))).toBe('');
  expect(emailOf({ email: 7 })).toBe('');
});
