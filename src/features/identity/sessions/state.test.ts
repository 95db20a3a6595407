import { describe, expect, it } from 'vitest';
import { endOf, stageOf, surelyIdleSince } from './state.ts';

describe('the end of a session', () => {
  it.each([
    ['twelve hours after its last use', '2026-01-01T00:00:00.000Z', '2026-01-01T12:00:00.000Z'],
    ['no later than its maximum age', '2026-01-29T20:00:00.000Z', '2026-01-30T06:00:00.000Z'],
  ])('is %s', (_, last_seen_at, end) => {
    expect(endOf({ last_seen_at, expires_at: '2026-01-30T06:00:00.000Z' })).toBe(end);
  });

  it('is an hour past before an idle session is deleted', () => {
    expect(surelyIdleSince('2026-01-01T13:00:00.000Z')).toBe('2026-01-01T00:00:00.000Z');
  });
});

describe('stageOf', () => {
  it.each([
    [false, false, null, 'full'],
    [false, true, null, 'full'],
    [false, true, 'an account', 'full'],
    [false, false, 'an account', 'enrolment'],
    [true, true, null, 'second_factor'],
    [true, false, 'an account', 'second_factor'],
  ])(
    'awaiting a code: %s, second factor: %s, required by: %s gives %s',
    (awaits, mfa_enabled, required_by, stage) => {
      expect(stageOf({ awaits_second_factor: awaits, mfa_enabled, required_by })).toBe(stage);
    },
  );
});
