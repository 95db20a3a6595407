import { expect, test } from 'vitest';
import { cleanReason } from './website-text.ts';

test('a long reason keeps the file and line at its end', () => {
  const place = ' in wp-content/plugins/shop/shop.php:7';
  const reason = cleanReason(`the home page answers 500: ${'x'.repeat(900)}\n${place.trim()}`);
  expect([reason.length, reason.endsWith(place)]).toEqual([400, true]);
  expect(cleanReason(' the home\u0007page hangs ')).toBe('the home page hangs');
  expect(cleanReason('x'.repeat(900))).toHaveLength(400);
});
