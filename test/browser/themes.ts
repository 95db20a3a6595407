import type { Page } from 'playwright-core';
import { isLong } from '../rounds.ts';
import { CONTRAST, expectAccessibleInLong } from './portal.ts';

/** In the long tests, checks accessibility in the light theme, and the colour contrast in the dark theme, too. */
export async function expectBothThemesInLong(page: Page): Promise<void> {
  if (!isLong) return;
  await page.emulateMedia({ colorScheme: 'light' });
  await expectAccessibleInLong(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessibleInLong(page, [CONTRAST]);
}
