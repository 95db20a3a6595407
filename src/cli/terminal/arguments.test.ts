import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { nameArgument } from './arguments.ts';

describe('a name on the command line', () => {
  it('is taken without white space around it', () => {
    expect(nameArgument(' Harbour Agency ')).toBe('Harbour Agency');
  });

  it.each(['', ' ', 'x'.repeat(101), 'two\nlines', 'a\u001b[2J', 'a\u2028b'])('is not %j', (text) => {
    expect(() => nameArgument(text)).toThrow(InvalidArgumentError);
  });
});
