import { expect, test } from 'vitest';
import { PERSONAL_CASES } from './page-cases.fixture.ts';
import { isPersonalPage } from './personal-pages.ts';

test('personal pages are known by path and query, as PHP and WordPress read them', () => {
  for (const [uri, personal] of PERSONAL_CASES) expect(isPersonalPage(uri), uri).toBe(personal);
});
