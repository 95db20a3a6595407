import type { Page } from 'playwright-core';
import { expectAccessible } from './portal.ts';

/** The same in dark and in light, in which the page is left. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
}
