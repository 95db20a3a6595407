import { Compile } from 'typebox/compile';
import { expect, it } from 'vitest';
import { processorMs } from '../../../../test/processor-time.ts';
import { telephone } from './routes.ts';

const validator = Compile(telephone());

it.each([
  '+49 30 123456',
  ' (030) 12/34-56 ',
  '0800.1234567',
  '+1 555 0100 x 12',
  '+1 555 0100 ext. 12',
  '+1-555-0100;ext=12',
  '+49\u201130\u2013123456',
  '112',
  '',
  ' ',
  null,
])('%j is accepted as a telephone number', (number) => {
  expect(validator.Check(number)).toBe(true);
});

it.each([
  'call me maybe',
  '+49 30\r\n123',
  '+49\u202e30',
  '\u001b[31m12',
  '+',
  'x12',
  `+${'1'.repeat(40)}`,
  12,
])('%j is refused as a telephone number', (number) => {
  expect(validator.Check(number)).toBe(false);
});

it('long input takes no exponential time to check', async () => {
  const taken = await processorMs(() => {
    validator.Check(`${'1 '.repeat(100_000)}!`);
    validator.Check(`${' '.repeat(200_000)}!`);
  });
  expect(taken).toBeLessThan(500);
});
