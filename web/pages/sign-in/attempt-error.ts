import { ApiFailure, FormError, waitingTime } from '../../api/failure.ts';

/** What a person is told of a refused attempt; `wrong`: where what they typed is not right; `instead`: what they can do but wait. */
export function attemptError(error: unknown, wrong: string, instead?: string): unknown {
  if (!(error instanceof ApiFailure)) return error;
  if (error.status === 401) return new FormError(wrong);
  if (error.status === 429) {
    const wait = `Try again in ${waitingTime(error.retryAfterSeconds ?? 60)}`;
    const hope = instead === undefined ? wait : `${wait}, or ${instead}`;
    return new FormError(`There were too many attempts. ${hope}.`);
  }
  return error;
}
