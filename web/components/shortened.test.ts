import { expect, it } from 'vitest';
import { shortened } from './shortened.ts';

it('cuts what is longer, never through a letter, and leaves the rest as it is', () => {
  expect(shortened('before the update', 17)).toBe('before the update');
  expect(shortened('before the update', 16)).toBe('before the upda…');
  expect(shortened('before the update', 8)).toBe('before…');
  expect(shortened('😀😀😀', 2)).toBe('😀…');
});
