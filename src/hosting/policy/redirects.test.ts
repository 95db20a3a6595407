import { expect, test } from 'vitest';
import { REDIRECT_CASES, REDIRECT_NAMES, REDIRECTS_AT } from './redirects.fixture.ts';
import { redirectScheme } from './redirects.ts';

test.each(REDIRECT_CASES)('$scheme://$name → $to', ({ scheme, name, to }) => {
  const rule = REDIRECT_NAMES[name];
  if (rule === undefined) throw new Error(name);
  const target = rule.redirectTo === null ? rule : REDIRECT_NAMES[rule.redirectTo];
  const found = redirectScheme(rule, target, scheme, new Date(REDIRECTS_AT));
  expect(found === null ? null : [found, rule.redirectTo]).toEqual(to);
});
