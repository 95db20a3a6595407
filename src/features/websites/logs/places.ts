import { RateLimited } from '../../../lib/failures.ts';

/** Seconds until a client should try again. */
const RETRY_SECONDS = 5;

/** Limits how much of one key is in progress in this process. */
export function createPlaces(most: number) {
  const taken = new Map<string, number>();
  return {
    /** Takes a place; the returned function gives it back. Throws RateLimited if none is left. */
    take(key: string): () => void {
      const count = taken.get(key) ?? 0;
      if (count >= most) throw new RateLimited(RETRY_SECONDS);
      taken.set(key, count + 1);
      return () => {
        const left = (taken.get(key) ?? 1) - 1;
        if (left === 0) taken.delete(key);
        else taken.set(key, left);
      };
    },
  };
}
