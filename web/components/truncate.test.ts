import { expect, it } from 'vitest';
import { truncate } from './truncate.ts';

it('shortens longer texts only, and never splits a character', () => {
  expect(truncate('before the update', 17)).toBe('before the update');
  expect(truncate('before the update', 16)).toBe('before the upda…');
  expect(truncate('before the update', 8)).toBe('before…');
  expect(truncate('😀😀😀', 2)).toBe('😀…');
});
