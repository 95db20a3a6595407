import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../test/processor-time.ts';
import { hasControlCharacter } from '../lib/one-line.ts';
import { displayName } from './display-name.ts';

const validator = Compile(displayName());

describe('a display name', () => {
  it.each(['Frida', ' Ölund-Müller ', '日本語', 'the 1st', 'half \ud800', '\u00a0x'])('may be %j', (name) => {
    expect(validator.Check(name)).toBe(true);
    expect(hasControlCharacter(name)).toBe(false);
  });

  it.each([
    'a\nb',
    'a\r',
    '\ta',
    'a\u0000',
    'a\u007f',
    'a\u0085b',
    'a\u2028b',
    '\u2029a',
    'a\u202eb',
    'a\u2066',
  ])('may not be %j', (name) => {
    expect(validator.Check(name)).toBe(false);
    expect(hasControlCharacter(name)).toBe(true);
  });

  it.each(['', ' ', '\u00a0', 'x'.repeat(101)])('may not be %j', (name) => {
    expect(validator.Check(name)).toBe(false);
  });

  it('is checked fast, even if it is hostile', async () => {
    const taken = await processorMs(() => {
      validator.Check(`${' '.repeat(200_000)}\n`);
      validator.Check(`${'x'.repeat(200_000)}\n`);
    });
    expect(taken).toBeLessThan(500);
  });
});
