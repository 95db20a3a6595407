/**
 * restic splits files by a Rabin fingerprint: an irreducible polynomial over GF(2) of degree 53. Each repository has a random
 * one, so that the lengths of the pieces do not reveal known files. Polynomials are numbers here, with a bit for each
 * coefficient.
 */
const DEGREE = 53n;
const LEADING = 1n << DEGREE;

/** A random irreducible polynomial. `bytes` returns the given number of random bytes. */
export function randomPolynomial(bytes: (count: number) => Buffer): bigint {
  for (;;) {
    const random = bytes(8).readBigUInt64BE();
    const candidate = (random & (LEADING - 1n)) | LEADING | 1n;
    if (isIrreducible(candidate)) return candidate;
  }
}

/**
 * Rabin's test for degree 53. Because 53 is prime, f is irreducible if it divides x^(2^53) - x and shares no factor with
 * x² - x, which means that neither 0 nor 1 is a root.
 */
export function isIrreducible(f: bigint): boolean {
  if (degree(f) !== DEGREE || (f & 1n) === 0n || countBits(f) % 2 === 0) return false;
  let power = 2n;
  for (let i = 0n; i < DEGREE; i++) power = remainder(square(power), f);
  return power === 2n;
}

function degree(f: bigint): bigint {
  return BigInt(f.toString(2).length - 1);
}

function countBits(f: bigint): number {
  return f.toString(2).replaceAll('0', '').length;
}

/** Over GF(2), the square of a sum is the sum of the squares: insert a zero between every two bits. */
function square(f: bigint): bigint {
  return BigInt(`0b${[...f.toString(2)].join('0')}`);
}

function remainder(a: bigint, f: bigint): bigint {
  let rest = a;
  for (let shift = degree(rest) - DEGREE; shift >= 0n; shift = degree(rest) - DEGREE) rest ^= f << shift;
  return rest;
}
