import { expect, it } from 'vitest';
import { installNameError } from '../site/install-name.ts';
import { suggestedName } from './suggested-name.ts';

it.each([
  ['Café Linde', 'cafe-linde'],
  ['  Shop & Blog!  ', 'shop-blog'],
  ['24 hours', 'hours'],
  [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
  ['北京', ''],
  ['a', ''],
])('suggests a valid name for the install of %j', (site, name) => {
  expect(suggestedName(site)).toBe(name);
  expect(installNameError(name)).toBe(null);
});
