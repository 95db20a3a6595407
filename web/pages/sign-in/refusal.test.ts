import { describe, expect, it } from 'vitest';
import { ApiFailure, sentenceFor } from '../../api/failure.ts';
import { attemptFailure } from './refusal.ts';

const refused = (status: number, headers: Record<string, string> = {}) =>
  new ApiFailure(new Response(null, { status, headers }), { message: 'Bad Credentials' });

describe('a refused attempt', () => {
  it('says plainly that what was typed is not right', () => {
    expect(sentenceFor(attemptFailure(refused(401), 'Not right.'))).toBe('Not right.');
  });

  it('says how long to wait after too many', () => {
    const told = (seconds: string) =>
      sentenceFor(attemptFailure(refused(429, { 'retry-after': seconds }), ''));
    expect(told('40')).toBe('There were too many attempts. Try again in 40 seconds.');
    expect(told('3541')).toBe('There were too many attempts. Try again in 60 minutes.');
  });

  it('says what else there is but to wait', () => {
    const failure = refused(429, { 'retry-after': '3541' });
    expect(sentenceFor(attemptFailure(failure, '', 'use a recovery code'))).toBe(
      'There were too many attempts. Try again in 60 minutes, or use a recovery code.',
    );
  });

  it('leaves other failures as they are', () => {
    const failure = refused(503);
    expect(attemptFailure(failure, 'Not right.')).toBe(failure);
  });
});
