import { ApiFailure, Objection } from '../../api/failure.ts';

/** "40 seconds", "12 minutes": as exact as somebody who waits needs it. */
export function waitingTime(seconds: number): string {
  if (seconds === 1) return '1 second';
  return seconds <= 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}

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
