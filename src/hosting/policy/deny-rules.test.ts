import { expect, test } from 'vitest';
import { DENIED, DENY, HIDDEN, SHOWN } from './deny-rules.fixture.ts';
import { isDenied } from './deny-rules.ts';

test('files that no visitor may see', () => {
  const paths = [...DENIED, ...SHOWN];
  expect(paths.filter((path) => isDenied(DENY, path))).toEqual(DENIED);
  expect(HIDDEN.filter((path) => isDenied(['/'], path))).toEqual(HIDDEN);
  expect(isDenied([], '/dump.sql')).toBe(false);
});
