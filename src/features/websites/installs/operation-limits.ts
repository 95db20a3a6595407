import { OPERATION_PAUSES } from '../../../access/rate-limits.ts';
import type { Transaction } from '../../../database/database.ts';
import { RateLimited } from '../../../lib/failures.ts';
import { heldOperations, holdOperation } from './operation-limits-store.ts';

type Operation = keyof typeof OPERATION_PAUSES;

const NAMES: Record<Operation, string> = {
  check_status: 'Domain status checks',
  verify_domain: 'Domain verifications',
  order_certificate: 'Certificate orders',
  upload_certificate: 'Certificate uploads',
  purge_object: 'Object cache purges',
  refresh_storage: 'Measurements of storage',
  refresh_wordpress: 'Refreshes of WordPress',
  restart_php: 'Restarts of PHP',
};

const messageOf = (operation: Operation) =>
  `${NAMES[operation]} are rate-limited to one request every ${OPERATION_PAUSES[operation]} seconds for each install`;

/**
 * Takes an install's turn for an operation, in the transaction that carries it out. The limit holds across all
 * processes; a request that fails otherwise uses no turn. Throws RateLimited.
 */
export async function takeTurn(
  { queries }: Transaction,
  installId: string,
  operation: Operation,
  time: Date,
): Promise<void> {
  const seconds = OPERATION_PAUSES[operation];
  const now = time.toISOString();
  const next_at = new Date(time.getTime() + seconds * 1000).toISOString();
  if (await holdOperation(queries, { install_id: installId, operation, next_at, now })) return;
  const held = (await heldOperations(queries, installId, now)).find((one) => one.operation === operation);
  const waitMs = held ? Date.parse(held.next_at) - time.getTime() : seconds * 1000;
  throw new RateLimited(waitMs / 1000, messageOf(operation));
}
