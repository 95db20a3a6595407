import type { Page } from 'playwright-core';
import { isLong } from '../rounds.ts';
import { CONTRAST, expectAccessible } from './portal.ts';

/** Checks accessibility in the light theme, and in the long tests the colour contrast in the dark theme, too. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  if (!isLong) return expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'light' });
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page, [CONTRAST]);
}
