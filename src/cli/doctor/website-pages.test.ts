import { expect, test } from 'vitest';
import { problem } from './finding.ts';
import { judged } from './website-pages.ts';

const broken = problem('pages', 'shop: the home page answers 500.', 'Correct the files.');

test('websites that were not requested are counted, beside those that work and those that fail', () => {
  const rest = '2 more were not requested: doctor requests 1 at most.';
  expect(judged(0, 0, [])).toEqual([]);
  expect(judged(1, 1, [broken])).toEqual([broken]);
  expect(judged(1, 3, [broken])).toMatchObject([broken, { state: 'ok', message: rest }]);
  expect(judged(1, 3, [])).toMatchObject([
    { state: 'ok', message: `The pages of 1 website with WordPress work. ${rest}` },
  ]);
});
