import { QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { SESSION_KEY } from './query-keys.ts';
import {
  areHidden,
  hidePages,
  ownerOf,
  type PortalSession,
  SIGNED_OUT,
  sessionState,
  stateAfter,
} from './session-state.ts';

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
  newer_release: null,
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

it('hides a visible page until the server answers, and leaves an expired one as it is', () => {
  const queries = new QueryClient();
  queries.setQueryData(SESSION_KEY, full);
  hidePages(queries);
  const hidden = sessionState(queries);
  expect(hidden).toEqual({ ...expired, isUnverified: true });
  expect(areHidden(hidden)).toBe(true);
  expect(stateAfter(hidden, sessionOf('ada'))).toEqual(full);
  expect(stateAfter(hidden, 'expired')).toEqual(expired);
  for (const before of [expired, SIGNED_OUT]) {
    queries.setQueryData(SESSION_KEY, before);
    hidePages(queries);
    expect(sessionState(queries)).toEqual(before);
  }
});
