import { expect, it } from 'vitest';
import { systemRandomness } from '../../../lib/ids.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';

it('newRecoveryCodes gives ten different codes of 80 bits', () => {
  const codes = newRecoveryCodes(systemRandomness);
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
});

it.each([
  ['abcd-efgh-2345-mnop'],
  ['ABCD-EFGH-2345-MNOP'],
  ['abcdefgh2345mnop'],
  [' abcd efgh 2345 mnop '],
  ['abcd–efgh–2345–mnop'],
])('"%s" is recognised as the same code', (typed) => {
  expect(hashRecoveryCode(typed)).toBe(hashRecoveryCode('abcd-efgh-2345-mnop'));
  expect(hashRecoveryCode(typed)).toMatch(/^[0-9a-f]{64}$/);
});

it.each([['123456'], ['abcd-efgh-2345-mno'], ['abcd-efgh-2345-mnopq'], ['abcd-efgh-0189-mnop'], ['']])(
  '"%s" is none',
  (typed) => {
    expect(hashRecoveryCode(typed)).toBeUndefined();
  },
);
