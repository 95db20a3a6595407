import { ApiFailure, Objection, waitingTime } from '../../api/failure.ts';

/** What a person is told of a refused attempt; `wrong`: where what they typed is not right. */
export function attemptFailure(error: unknown, wrong: string): unknown {
  if (!(error instanceof ApiFailure)) return error;
  if (error.status === 401) return new Objection(wrong);
  if (error.status === 429) {
    return new Objection(
      `There were too many attempts. Try again in ${waitingTime(error.retryAfterSeconds ?? 60)}.`,
    );
  }
  return error;
}
