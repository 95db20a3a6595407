import { expect, it } from 'vitest';
import { systemRandomness } from '../../../lib/ids.ts';
import { isIrreducible, randomPolynomial } from './chunker-polynomial.ts';
import { newRepository } from './new-repository.ts';
import { poly1305 } from './poly1305.ts';

it('authenticates as RFC 8439 section 2.5.2 has it', () => {
  const r = Buffer.from('85d6be7857556d337f4452fe42d506a8', 'hex');
  const s = Buffer.from('0103808afb0db2fd4abff6af4149f51b', 'hex');
  const message = Buffer.from('Cryptographic Forum Research Group');
  expect(poly1305(message, r, s).toString('hex')).toBe('a8061dc1305136c6c22b8baf0c0127a9');
});

it('carries over where RFC 8439 appendix A.3 does', () => {
  const tag = (r: string, s: string, message: string) =>
    poly1305(Buffer.from(message, 'hex'), Buffer.from(r, 'hex'), Buffer.from(s, 'hex')).toString('hex');
  const zero = '0'.repeat(32);
  // Test vectors 7 and 8: sums around the prime.
  expect(tag(`01${'0'.repeat(30)}`, zero, `${'f'.repeat(32)}f0${'f'.repeat(30)}11${'0'.repeat(30)}`)).toBe(
    `05${'0'.repeat(30)}`,
  );
  expect(tag(`01${'0'.repeat(30)}`, zero, `${'f'.repeat(32)}fb${'fe'.repeat(15)}${'01'.repeat(16)}`)).toBe(
    zero,
  );
});

it('tells irreducible polynomials of degree 53', () => {
  // The one that restic's own tests and chunker use.
  expect(isIrreducible(0x3da3358b4dc173n)).toBe(true);
  for (const other of [0x3da3358b4dc171n, 0x3da3358b4dc172n, 0x20000000000000n, 0x7n, 0n]) {
    expect(isIrreducible(other)).toBe(false);
  }
  const made = Array.from({ length: 5 }, () => randomPolynomial((count) => systemRandomness.bytes(count)));
  expect(made.every(isIrreducible)).toBe(true);
  expect(new Set(made).size).toBe(5);
});

it('gives a key and a configuration that show neither password nor master key, and are never the same', async () => {
  const parts = { random: systemRandomness, now: new Date('2026-01-01T00:00:00.000Z') };
  const [one, two] = [await newRepository('a password', parts), await newRepository('a password', parts)];
  expect(one.key.name).toMatch(/^keys\/[0-9a-f]{64}$/);
  expect(one.key.name).not.toBe(two.key.name);
  expect(JSON.parse(one.key.content.toString())).toMatchObject({ kdf: 'scrypt', N: 1024, r: 8, p: 1 });
  expect(one.config.content.toString('latin1')).not.toContain('polynomial');
});
