import { expect, it } from 'vitest';
import { INSTALL_NAME_PATTERN } from '../../../src/features/websites/installs/schema.ts';
import { installNameError } from './install-name.ts';

const NAMES = ['shop', 'a-b', 'abc', 'a'.repeat(40), 'ab', 'a'.repeat(41), 'Shop', '1shop', '-ab', 'shop-'];

it('accepts the same names as the server', () => {
  for (const name of [...NAMES, 'my shop', 'shop.example', 'shöp', 'shop_2']) {
    expect(installNameError(name) === null, name).toBe(new RegExp(INSTALL_NAME_PATTERN).test(name));
  }
});

it('says what to change once something is typed', () => {
  expect(installNameError('')).toBeNull();
  expect(installNameError('sh')).toBe('At least 3 characters.');
  expect(installNameError('my shop')).toBe('Remove the space.');
  expect(installNameError('shop_2')).toBe('The character “_” is not allowed.');
});
