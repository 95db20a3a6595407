import { expect, it } from 'vitest';
import { truncate } from './truncate.ts';

it('cuts what is longer, never through a letter, and leaves the rest as it is', () => {
  expect(truncate('before the update', 17)).toBe('before the update');
  expect(truncate('before the update', 16)).toBe('before the upda…');
  expect(truncate('before the update', 8)).toBe('before…');
  expect(truncate('😀😀😀', 2)).toBe('😀…');
});
