import { describe, expect, it } from 'vitest';
import { systemRandomness } from '../../../lib/ids.ts';
import { base32 } from './base32.ts';
import { newTotpSecret, sixDigits, stepOfCode, totpUri } from './totp.ts';

/** The secret of RFC 6238, appendix B. */
const SECRET = base32(Buffer.from('12345678901234567890'));
const at = (seconds: number) => new Date(seconds * 1000);

describe('base32', () => {
  // RFC 4648, section 10, without the padding.
  it.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('of "%s" is "%s"', (text, encoded) => {
    expect(base32(Buffer.from(text))).toBe(encoded);
  });
});

describe('stepOfCode', () => {
  // RFC 6238, appendix B: the last six of eight digits.
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('accepts the code of second %d', async (second, digits) => {
    expect(await stepOfCode(SECRET, digits, at(second))).toBe(Math.floor(second / 30));
  });

  const step = 37_037_036;
  const digits = '081804';

  it.each([
    ['at the beginning of the step before', (step - 1) * 30, step],
    ['at the end of the step after', (step + 2) * 30 - 1, step],
    ['a second too early', (step - 1) * 30 - 1, undefined],
    ['a second too late', (step + 2) * 30, undefined],
  ])('%s', async (_, second, expected) => {
    expect(await stepOfCode(SECRET, digits, at(second))).toBe(expected);
  });

  it('refuses the code of another secret', async () => {
    expect(await stepOfCode(newTotpSecret(systemRandomness), digits, at(step * 30))).toBeUndefined();
  });
});

describe('sixDigits', () => {
  it.each([
    ['123456', '123456'],
    [' 123 456 ', '123456'],
    ['12345', undefined],
    ['1234567', undefined],
    ['12345x', undefined],
    ['١٢٣٤٥٦', undefined],
    ['', undefined],
  ])('of "%s"', (typed, digits) => {
    expect(sixDigits(typed)).toBe(digits);
  });
});

it('a new secret has 160 bits; the URI names user and platform', async () => {
  const secret = newTotpSecret(systemRandomness);
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  const uri = new URL(await totpUri(secret, 'frida@agency.example', 'Homeport hosting.example'));
  expect(`${uri.protocol}//${uri.host}`).toBe('otpauth://totp');
  expect(decodeURIComponent(uri.pathname)).toBe('/Homeport hosting.example:frida@agency.example');
  expect(uri.searchParams.get('secret')).toBe(secret);
  expect(uri.searchParams.get('issuer')).toBe('Homeport hosting.example');
});
