import { expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { LOGIN_LIMITS, NEXT_ATTEMPT } from '../../policy/login-limits.ts';
import { createLoginAttempts } from './login-attempts.ts';

const LOGIN = { method: 'POST', uri: '/wp-login.php', query: '' };

it('refuses attempts beyond the burst, and accepts one more after its time', () => {
  const clock = manualClock(new Date());
  const attempts = createLoginAttempts({ clock });
  const attempt = (address = '192.0.2.1', request = LOGIN) => attempts.refusal('one', address, request);
  for (let count = 0; count <= LOGIN_LIMITS.login.burst; count++) expect(attempt()).toBeNull();
  expect(attempt()).toBe(NEXT_ATTEMPT.login);
  expect(attempt('192.0.2.2')).toBeNull();
  expect(attempts.refusal('other', '192.0.2.1', LOGIN)).toBeNull();
  expect(attempt('192.0.2.1', { ...LOGIN, query: 'action=postpass' })).toBeNull();
  expect(attempt('192.0.2.1', { ...LOGIN, method: 'GET' })).toBeNull();
  clock.advance(NEXT_ATTEMPT.login * 1_000);
  expect(attempt()).toBeNull();
  expect(attempt()).toBe(NEXT_ATTEMPT.login);
});

it('counts XML-RPC in any folder and with a path behind it', () => {
  const attempts = createLoginAttempts({ clock: manualClock(new Date()) });
  const attempt = () =>
    attempts.refusal('one', '192.0.2.1', { method: 'POST', uri: '/blog/xmlrpc.php/x', query: '' });
  for (let count = 0; count <= LOGIN_LIMITS.xmlrpc.burst; count++) expect(attempt()).toBeNull();
  expect(attempt()).toBe(NEXT_ATTEMPT.xmlrpc);
});
