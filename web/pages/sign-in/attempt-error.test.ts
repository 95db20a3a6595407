import { describe, expect, it } from 'vitest';
import { ApiFailure, errorMessage } from '../../api/failure.ts';
import { attemptError } from './attempt-error.ts';

const refused = (status: number, headers: Record<string, string> = {}) =>
  new ApiFailure(new Response(null, { status, headers }), { message: 'Bad Credentials' });

describe('a refused attempt', () => {
  it('says plainly that what was typed is not right', () => {
    expect(errorMessage(attemptError(refused(401), 'Not right.'))).toBe('Not right.');
  });

  it('says how long to wait after too many', () => {
    const told = (seconds: string) =>
      errorMessage(attemptError(refused(429, { 'retry-after': seconds }), ''));
    expect(told('40')).toBe('There were too many attempts. Try again in 40 seconds.');
    expect(told('3541')).toBe('There were too many attempts. Try again in 60 minutes.');
  });

  it('says what else there is but to wait', () => {
    const failure = refused(429, { 'retry-after': '3541' });
    expect(errorMessage(attemptError(failure, '', 'use a recovery code'))).toBe(
      'There were too many attempts. Try again in 60 minutes, or use a recovery code.',
    );
  });

  it('leaves other failures as they are', () => {
    const failure = refused(503);
    expect(attemptError(failure, 'Not right.')).toBe(failure);
  });
});
