import type { Page } from 'playwright-core';
import { expectAccessible } from './portal.ts';

/** Checks accessibility in the light theme, and the colour contrast in the dark theme, too. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page, ['color-contrast']);
}
