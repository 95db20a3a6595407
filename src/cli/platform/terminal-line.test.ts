import { expect, it } from 'vitest';
import { terminalLine } from './terminal-line.ts';

const line = (fields: object) => ({ level: 40, time: 1, pid: 2, hostname: 'here', ...fields });

it('has the message, the reason without its stack, and what it is about', () => {
  const err = { type: 'Error', message: 'connect ECONNREFUSED', stack: 'Error\n    at somewhere' };
  expect(
    terminalLine(line({ msg: 'could not send', err, install: 'shop', attempt: 2, payload: { id: 'x' } })),
  ).toBe('could not send: connect ECONNREFUSED (install: shop, attempt: 2)');
  expect(terminalLine(line({ msg: 'started' }))).toBe('started');
});

it('is one line that cannot move the cursor', () => {
  expect(terminalLine(line({ msg: 'one\ntwo\u001b[2J' }))).toBe('one two [2J');
});
