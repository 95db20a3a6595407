import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Expects that the page does not overflow at 360 px, and restores its width. */
export async function expectRoomWhenNarrow(page: Page): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 800 });
  const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  await expect.poll(() => page.evaluate(overhang)).toBe(0);
  if (before) await page.setViewportSize(before);
}
