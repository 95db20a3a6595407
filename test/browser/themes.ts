import type { Page } from 'playwright-core';
import { expectAccessible } from './portal.ts';

/** The same in light and in dark, where nothing but the colours differs. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page, ['color-contrast']);
}
