import { ApiFailure, FormError, waitingTime } from '../../api/failure.ts';

/**
 * Returns the error that users see for a failed attempt. `wrong` is the message for wrong input; `instead` is an
 * alternative to waiting.
 */
export function attemptError(error: unknown, wrong: string, instead?: string): unknown {
  if (!(error instanceof ApiFailure)) return error;
  if (error.status === 401) return new FormError(wrong);
  if (error.status === 429) {
    const wait = `Try again in ${waitingTime(error.retryAfterSeconds ?? 60)}`;
    const advice = instead === undefined ? wait : `${wait}, or ${instead}`;
    return new FormError(`Too many attempts. ${advice}.`);
  }
  return error;
}
