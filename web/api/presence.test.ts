import { expect, it } from 'vitest';
import { watchPresence } from './presence.ts';

it('users count as present for five minutes after touching keyboard, pointer or wheel', () => {
  let now = 0;
  const page = new EventTarget();
  const attended = watchPresence(page, () => now);
  for (const sign of ['keydown', 'pointerdown', 'pointermove', 'wheel']) {
    expect(attended()).toBe(true);
    now += 299_999;
    expect(attended()).toBe(true);
    now += 1;
    expect(attended(), sign).toBe(false);
    page.dispatchEvent(new Event('scroll'));
    expect(attended()).toBe(false);
    page.dispatchEvent(new Event(sign));
  }
  expect(attended()).toBe(true);
});
