import { expect, test } from 'vitest';
import { accountNames } from './required-by.ts';

test('names the accounts that require a second factor', () => {
  expect(accountNames([])).toBe('One of your accounts');
  expect(accountNames(['Shop'])).toBe('The account Shop');
  expect(accountNames(['Shop', 'Blog'])).toBe('Each of your accounts Shop and Blog');
});
