import { describe, expect, it } from 'vitest';
import { ApiFailure, errorMessage } from '../../api/failure.ts';
import { attemptError } from './attempt-error.ts';

const refused = (status: number, headers: Record<string, string> = {}) =>
  new ApiFailure(new Response(null, { status, headers }), { message: 'Bad Credentials' });

describe('attemptError', () => {
  it('reports wrong input', () => {
    expect(errorMessage(attemptError(refused(401), 'Not right.'))).toBe('Not right.');
  });

  it('says how long to wait after too many attempts', () => {
    const message = (seconds: string) =>
      errorMessage(attemptError(refused(429, { 'retry-after': seconds }), ''));
    expect(message('40')).toBe('Too many attempts. Try again in 40 seconds.');
    expect(message('3541')).toBe('Too many attempts. Try again in 60 minutes.');
  });

  it('offers an alternative to waiting', () => {
    const failure = refused(429, { 'retry-after': '3541' });
    expect(errorMessage(attemptError(failure, '', 'use a recovery code'))).toBe(
      'Too many attempts. Try again in 60 minutes, or use a recovery code.',
    );
  });

  it('leaves other errors unchanged', () => {
    const failure = refused(503);
    expect(attemptError(failure, 'Not right.')).toBe(failure);
  });
});
