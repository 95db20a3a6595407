import type { Transaction } from '../../../database/database.ts';
import { RateLimited } from '../../../lib/failures.ts';
import { heldOperations, holdOperation } from './operation-limits-store.ts';

/** Operations that an install takes only so often (gaps section 4). */
const LIMITS = {
  check_status: {
    seconds: 5,
    message: 'Domain status checks are rate-limited to one request every 5 seconds for each install',
  },
  verify_domain: {
    seconds: 5,
    message: 'Domain verifications are rate-limited to one request every 5 seconds for each install',
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
  time: Date,
): Promise<void> {
  const { seconds, message } = LIMITS[operation];
  const now = time.toISOString();
  const next_at = new Date(time.getTime() + seconds * 1000).toISOString();
  if (await holdOperation(queries, { install_id: installId, operation, next_at, now })) return;
  const held = (await heldOperations(queries, installId, now)).find((one) => one.operation === operation);
  const waitMs = held ? Date.parse(held.next_at) - time.getTime() : seconds * 1000;
  throw new RateLimited(waitMs / 1000, message);
}
