import { expect, it } from 'vitest';
import { areHidden, ownerOf, type PortalSession, SIGNED_OUT, stateAfter } from './session-state.ts';

const sessionOf = (id: string, stage: PortalSession['stage'] = 'full'): PortalSession => ({
  stage,
  second_factors: [],
  user: {
    id,
    email: `${id}@people.example`,
    first_name: id,
    last_name: '',
    phone: null,
    mfa_enabled: false,
  },
  accounts: [],
  wordpress_features: [],
});
const full = stateAfter(SIGNED_OUT, sessionOf('ada'));
const expired = stateAfter(full, 'expired');

it('keeps the pages of an expired session, hidden, for its user', () => {
  expect([areHidden(full), areHidden(expired), ownerOf(expired)]).toEqual([false, true, 'ada']);
  const step = stateAfter(expired, sessionOf('ada', 'second_factor'));
  expect([areHidden(step), step.kept]).toEqual([true, full.kept]);
  const timedOut = stateAfter(step, 'expired');
  expect(timedOut).toEqual(expired);
  expect(areHidden(stateAfter(timedOut, sessionOf('ada')))).toBe(false);
});

it('keeps nothing for another user, nor for a user who must first set up a second factor', () => {
  expect(stateAfter(expired, sessionOf('bea')).kept?.user.id).toBe('bea');
  expect(stateAfter(expired, sessionOf('bea', 'second_factor')).kept).toBe(null);
  expect(stateAfter(full, sessionOf('ada', 'enrolment')).kept).toBe(null);
  expect(stateAfter(SIGNED_OUT, 'expired')).toEqual(SIGNED_OUT);
});

it('keeps nothing of a session that was ended, but that it was', () => {
  for (const before of [full, expired]) {
    const ended = stateAfter(before, null);
    expect(ended).toEqual({ ...SIGNED_OUT, wasEnded: true });
    expect(stateAfter(ended, null)).toEqual(ended);
    expect(stateAfter(ended, sessionOf('ada'))).toEqual(full);
  }
  expect(stateAfter(SIGNED_OUT, null)).toEqual(SIGNED_OUT);
});
