import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import { pauseAfter, pauseForValidations, renewalTime, VALIDATIONS_AN_HOUR } from './schedule.ts';

const middle = { ...systemRandomness, fraction: () => 0.5 };

describe('the pause after a failure', () => {
  it('grows from a minute to half a day', () => {
    const pauses = Array.from({ length: 12 }, (_, index) => pauseAfter(index + 1, middle) / MINUTE_MS);
    expect(pauses).toEqual([1, 2, 5, 10, 30, 60, 120, 240, 360, 720, 720, 720]);
  });

  it('is spread by a fifth', () => {
    expect(pauseAfter(1, { ...middle, fraction: () => 0 })).toBe(48_000);
    expect(pauseAfter(1, { ...middle, fraction: () => 1 })).toBe(72_000);
  });
});

describe('the limit of validations', () => {
  const now = new Date('2026-05-01T12:00:00Z');
  const ago = (ms: number) => new Date(now.getTime() - ms);

  it('allows four in an hour, and the next when the first is an hour old', () => {
    const three = [ago(50 * MINUTE_MS), ago(30 * MINUTE_MS), ago(MINUTE_MS)];
    expect(pauseForValidations(three, now)).toBe(0);
    expect(pauseForValidations([...three, ago(0)], now)).toBe(10 * MINUTE_MS);
    expect(pauseForValidations([...three, ago(HOUR_MS)], now)).toBe(0);
  });

  it('never allows more than four in any hour', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 90 * MINUTE_MS }), { maxLength: 60 }), (steps) => {
        const made: number[] = [];
        let at = 0;
        for (const step of steps) {
          at += step;
          at += pauseForValidations(
            made.map((ms) => new Date(ms)),
            new Date(at),
          );
          made.push(at);
        }
        for (const begin of made) {
          const within = made.filter((ms) => ms >= begin && ms < begin + HOUR_MS).length;
          expect(within).toBeLessThanOrEqual(VALIDATIONS_AN_HOUR);
        }
      }),
    );
  });
});

describe('the renewal time', () => {
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
});
