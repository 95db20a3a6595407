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
const NO_SIGN_OUT = { signOut: null, latestSignOut: null };
const full = stateAfter(SIGNED_OUT, sessionOf('ada'), NO_SIGN_OUT);
const ended = stateAfter(full, null, NO_SIGN_OUT);

it('keeps the pages of an ended session, hidden, for its user', () => {
  expect([areHidden(full), areHidden(ended), ownerOf(ended)]).toEqual([false, true, 'ada']);
  const step = stateAfter(ended, sessionOf('ada', 'second_factor'), NO_SIGN_OUT);
  expect([areHidden(step), step.kept]).toEqual([true, full.kept]);
  const timedOut = stateAfter(step, null, NO_SIGN_OUT);
  expect(timedOut).toEqual(ended);
  expect(areHidden(stateAfter(timedOut, sessionOf('ada'), NO_SIGN_OUT))).toBe(false);
});

it('keeps nothing for another user, nor for a user who must first set up a second factor', () => {
  expect(stateAfter(ended, sessionOf('bea'), NO_SIGN_OUT).kept?.user.id).toBe('bea');
  expect(stateAfter(ended, sessionOf('bea', 'second_factor'), NO_SIGN_OUT).kept).toBe(null);
  expect(stateAfter(full, sessionOf('ada', 'enrolment'), NO_SIGN_OUT).kept).toBe(null);
  expect(stateAfter(SIGNED_OUT, null, NO_SIGN_OUT)).toEqual(SIGNED_OUT);
});

it('keeps nothing after a sign-out in this browser, also one during the request', () => {
  const [before, during] = [
    { signOut: 'one', latestSignOut: 'one' },
    { signOut: null, latestSignOut: 'one' },
  ];
  for (const signOuts of [before, during]) expect(stateAfter(full, null, signOuts).kept).toBe(null);
  // An earlier sign-out does not count.
  const again = stateAfter(SIGNED_OUT, sessionOf('ada'), before);
  expect(areHidden(stateAfter(again, null, before))).toBe(true);
});
