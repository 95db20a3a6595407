import { expect, test } from 'vitest';
import { assemble } from './bpf.ts';

test('assembles steps into kernel instructions, with jumps relative to the next one', () => {
  const program = assemble([
    { load: 4 },
    { ifEqual: 0xc000_003e, goto: 'end' },
    { ifAtLeast: 2, goto: 'end' },
    { goto: 'end' },
    { return: 7 },
    { label: 'end' },
    { return: 0x7fff_0000 },
  ]);
  expect(program.toString('hex').match(/.{16}/g)).toEqual([
    '2000000004000000',
    '150003003e0000c0',
    '3500020002000000',
    '0500000001000000',
    '0600000007000000',
    '060000000000ff7f',
  ]);
});

test('throws for jumps to a missing, an earlier or a distant label', () => {
  const far = Array.from({ length: 256 }, () => ({ return: 0 }));
  expect(() => assemble([{ goto: 'nowhere' }])).toThrow('nowhere');
  expect(() => assemble([{ label: 'back' }, { load: 0 }, { goto: 'back' }])).toThrow('back');
  expect(() => assemble([{ ifEqual: 0, goto: 'far' }, ...far, { label: 'far' }, { return: 0 }])).toThrow(
    'far',
  );
});
