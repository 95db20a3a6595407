import { expect, test } from 'vitest';
import { qrPath } from './qr-path.ts';

test('a path covers exactly the dark modules', () => {
  expect(
    qrPath([
      [true, true, false],
      [false, false, false],
      [true, false, true],
    ]),
  ).toBe('M0 0h2v1h-2zM0 2h1v1h-1zM2 2h1v1h-1z');
});
