import { type FixedRateLimit, rateLimitKey } from '../src/access/rate-limits.ts';
import { createRateLimiter } from '../src/api/rate-limiter.ts';
import { silent } from './database.ts';
import type { TestHomeport } from './homeport.ts';

/** Spends all but `left` of a limit, as another process on the same database does. `left` is a multiple of a twentieth of the limit. */
export async function spendAllBut(
  { platform }: Pick<TestHomeport, 'platform'>,
  limit: FixedRateLimit,
  { subject, left }: { subject: string; left: number },
): Promise<void> {
  const elsewhere = createRateLimiter(platform.database, platform.clock, silent);
  for (let spent = 0; spent < limit.size - left; spent++) {
    await elsewhere.spend(rateLimitKey(limit, subject), limit.size, limit.windowSeconds);
  }
}
