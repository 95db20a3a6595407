/**
 * restic cuts files into pieces by a Rabin fingerprint: a polynomial over GF(2) of degree 53 that must be irreducible. It is random for
 * each repository, so that the lengths of the pieces do not give away known files. Polynomials are numbers here, a bit for each
 * coefficient.
 */
const DEGREE = 53n;
const LEADING = 1n << DEGREE;

/** A random irreducible polynomial. `bytes` gives so many random ones at each call. */
export function randomPolynomial(bytes: (count: number) => Buffer): bigint {
  for (;;) {
    const random = bytes(8).readBigUInt64BE();
    const candidate = (random & (LEADING - 1n)) | LEADING | 1n;
    if (isIrreducible(candidate)) return candidate;
  }
}

/**
 * Rabin's test, for degree 53 alone: as that is a prime, f is irreducible if it divides x^(2^53) - x and has no factor in
 * common with x² - x, that is, neither 0 nor 1 is a root of it.
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

/** Over GF(2) the square of a sum is the sum of the squares: a zero goes between every two bits. */
function square(f: bigint): bigint {
  return BigInt(`0b${[...f.toString(2)].join('0')}`);
}

function remainder(a: bigint, f: bigint): bigint {
  let rest = a;
  for (let shift = degree(rest) - DEGREE; shift >= 0n; shift = degree(rest) - DEGREE) rest ^= f << shift;
  return rest;
}
