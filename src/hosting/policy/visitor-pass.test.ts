import { expect, test } from 'vitest';
import { createPass, isPass } from './visitor-pass.ts';

const KEY = 'k'.repeat(43);
const now = new Date('2026-03-01T12:00:00.000Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000);

test('a pass counts for its website and its time only', () => {
  const pass = createPass(KEY, now);
  expect(isPass(KEY, pass, now)).toBe(true);
  expect(isPass(KEY, pass, later(119))).toBe(true);
  expect(isPass(KEY, pass, later(121))).toBe(false);
  expect(isPass('x'.repeat(43), pass, now)).toBe(false);
  expect(isPass(KEY, pass, later(-2 * 86_400))).toBe(false);
  for (const text of ['', 'x', '.', `${pass}0`, pass.slice(0, -1), pass.replace(/^\d/, '2')]) {
    expect(isPass(KEY, text, now)).toBe(false);
  }
});
