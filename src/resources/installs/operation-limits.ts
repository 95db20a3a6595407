import type { Transaction } from '../../database/database.ts';
import { RateLimited } from '../../failures.ts';

/** Operations that an install takes only so often (gaps section 4). */
const LIMITS = {
  check_status: {
    seconds: 5,
    message: 'Domain status checks are rate-limited to one request every 5 seconds for each install',
  },
  purge_object: {
    seconds: 60,
    message: 'Object cache purges are rate-limited to one request every 60 seconds for each install',
  },
} as const;

/**
 * Takes the one turn that an install has for an operation in so many seconds, in the transaction that carries it out:
 * it holds across all processes, and a request that fails for another reason takes none. Throws RateLimited.
 */
export async function takeTurn(
  { queries }: Transaction,
  installId: string,
  operation: keyof typeof LIMITS,
  now: Date,
): Promise<void> {
  const { seconds, message } = LIMITS[operation];
  const next_at = new Date(now.getTime() + seconds * 1000).toISOString();
  const row = await queries
    .insertInto('install_limits')
    .values({ install_id: installId, operation, next_at })
    .onConflict((conflict) =>
      conflict
        .columns(['install_id', 'operation'])
        .doUpdateSet({ next_at })
        .where('install_limits.next_at', '<=', now.toISOString()),
    )
    .returning('next_at')
    .executeTakeFirst();
  if (row) return;
  const held = await queries
    .selectFrom('install_limits')
    .select('next_at')
    .where('install_id', '=', installId)
    .where('operation', '=', operation)
    .executeTakeFirst();
  const waitMs = held ? Date.parse(held.next_at) - now.getTime() : seconds * 1000;
  throw new RateLimited(waitMs / 1000, message);
}
