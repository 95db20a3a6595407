import { expect, it } from 'vitest';
import { systemRandomness } from '../../../lib/ids.ts';
import { renewalTime } from './renewal-time.ts';

const at = (fraction: number) => ({ ...systemRandomness, fraction: () => fraction });
const ninetyDays = {
  notBefore: new Date('2026-01-01T00:00:00Z'),
  notAfter: new Date('2026-04-01T00:00:00Z'),
};

it('is with a third of the lifetime left, give or take', () => {
  expect(renewalTime(ninetyDays, null, at(0.5))).toEqual(new Date('2026-03-02T00:00:00Z'));
  expect(renewalTime(ninetyDays, null, at(0)).getTime()).toBeLessThan(Date.parse('2026-03-01T00:00:00Z'));
  expect(renewalTime(ninetyDays, null, at(1)).getTime()).toBeLessThan(Date.parse('2026-03-05T00:00:00Z'));
});

it('falls into the window that the authority suggests', () => {
  const window = { start: new Date('2026-02-01T00:00:00Z'), end: new Date('2026-02-03T00:00:00Z') };
  expect(renewalTime(ninetyDays, window, at(0))).toEqual(window.start);
  expect(renewalTime(ninetyDays, window, at(0.5))).toEqual(new Date('2026-02-02T00:00:00Z'));
  expect(renewalTime(ninetyDays, { start: window.end, end: window.start }, at(1))).toEqual(window.end);
});
