import { expect, it } from 'vitest';
import { numberOrderKey } from './number-order.ts';

it('sorts numbers in texts by their value', () => {
  const sorted = ['shop-1', 'shop-2', 'shop-2a', 'shop-10', 'shop-10-1', 'shops'];
  const keyed = sorted.toReversed().map((text) => ({ text, key: numberOrderKey(text) }));
  expect(keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ text }) => text)).toEqual(sorted);
});
