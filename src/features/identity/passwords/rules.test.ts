import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase, silent } from '../../../../test/database.ts';
import { manualClock } from '../../../../test/manual-clock.ts';
import { createRateLimiter } from '../../../api/rate-limiter.ts';
import { InvalidRequest, RateLimited } from '../../../lib/failures.ts';
import { createSignInLimits } from '../limits/sign-in-limits.ts';
import { requireStrongPassword } from './rules.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.remove());

it('rates ten passwords of a user a minute, strong or weak', async () => {
  const clock = manualClock();
  const limits = createSignInLimits(createRateLimiter(database, clock, silent), { perMinute: true });
  const owner = { id: 'ada', email: 'ada@people.example', first_name: 'Ada', last_name: 'Byron' };
  const choose = (password: string) => requireStrongPassword(limits, password, owner);
  for (let times = 0; times < 5; times++) await choose('correct horse battery staple');
  for (let times = 0; times < 5; times++) {
    await expect(choose('password1234')).rejects.toBeInstanceOf(InvalidRequest);
  }
  await expect(choose('password1234')).rejects.toBeInstanceOf(RateLimited);
  await expect(choose('correct horse battery staple')).rejects.toBeInstanceOf(RateLimited);
  clock.advance(60_000);
  await choose('correct horse battery staple');
});
