import { expect, it } from 'vitest';
import { divideSlots, slotsOfOneShare } from './slots.ts';

it.each([
  [1, { short: 1, long: 1 }],
  [2, { short: 1, long: 1 }],
  [3, { short: 2, long: 1 }],
  [8, { short: 5, long: 3 }],
  [64, { short: 43, long: 21 }],
])('divides %d slots', (total, slots) => {
  expect(divideSlots(total)).toEqual(slots);
});

it.each([
  [1, 1],
  [2, 1],
  [5, 4],
])('leaves one of %d slots to other shares, if there are several', (slots, most) => {
  expect(slotsOfOneShare(slots)).toBe(most);
});
