import { expect, test } from 'vitest';
import {
  hashVisitorPassword,
  isVisitorPassword,
  MOST_PASSWORD_ROUNDS,
  VISITOR_PASSWORD_HASH,
} from './visitor-password.ts';

test('a row takes no hash with more rounds than the edge computes', async () => {
  const pattern = new RegExp(VISITOR_PASSWORD_HASH);
  const hash = await hashVisitorPassword('x');
  expect(hash).toMatch(pattern);
  const withRounds = (rounds: number) => hash.replace(/\$\d+\$/, `$${rounds}$`);
  for (const rounds of [1, 9_999, 19_999, MOST_PASSWORD_ROUNDS]) expect(withRounds(rounds)).toMatch(pattern);
  for (const rounds of [0, MOST_PASSWORD_ROUNDS + 1, 30_000, 99_999, 100_000]) {
    expect(withRounds(rounds)).not.toMatch(pattern);
  }
});

test('passwords match their hash only', async () => {
  const hash = await hashVisitorPassword('päss:word');
  const matches = async (password: string, of: string | null = hash) => isVisitorPassword(of, password);
  expect(await matches('päss:word')).toBe(true);
  for (const wrong of ['päss:wor', 'päss:wordx', '', 'x'.repeat(10_000)])
    expect(await matches(wrong)).toBe(false);
  expect(await matches('', null)).toBe(false);
});
