import { expect, it } from 'vitest';
import { INSTALL_NAME_PATTERN } from '../../../src/features/websites/installs/schema.ts';
import { installNameFault } from './install-name.ts';

const NAMES = ['shop', 'a-b', 'abc', 'a'.repeat(40), 'ab', 'a'.repeat(41), 'Shop', '1shop', '-ab', 'shop-'];

it('says the same of a name as the server does', () => {
  for (const name of [...NAMES, 'my shop', 'shop.example', 'shöp', 'shop_2']) {
    expect(installNameFault(name) === null, name).toBe(new RegExp(INSTALL_NAME_PATTERN).test(name));
  }
});

it('says what to change, and nothing of what is not typed yet', () => {
  expect(installNameFault('')).toBeNull();
  expect(installNameFault('sh')).toBe('At least 3 characters.');
  expect(installNameFault('my shop')).toBe('Leave the space out.');
  expect(installNameFault('shop_2')).toBe('“_” cannot be in a name.');
});
