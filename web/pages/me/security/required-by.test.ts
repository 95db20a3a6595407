import { expect, test } from 'vitest';
import { accountsInWords } from './required-by.ts';

test('the accounts that demand a second factor in words', () => {
  expect(accountsInWords([])).toBe('One of your accounts');
  expect(accountsInWords(['Shop'])).toBe('The account Shop');
  expect(accountsInWords(['Shop', 'Blog'])).toBe('Each of your accounts Shop and Blog');
});
