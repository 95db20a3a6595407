import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { FilestoreSettings } from './service.ts';
import { findOffload, refuseOffload } from './store.ts';

/** Whether these settings, or null for none, are the latest request. If not, a later job decides. */
export async function isLatest(
  transaction: Transaction,
  installId: string,
  settings: FilestoreSettings | null,
): Promise<boolean> {
  await lockRow(transaction, 'installs', installId);
  const row = await findOffload(transaction.queries, installId);
  return isDeepStrictEqual(row?.requested, settings);
}

/** Ends a request without activating its settings; those active so far stay. */
export async function endOffloadRequest(
  transaction: Transaction,
  { install_id, settings }: { install_id: string; settings: FilestoreSettings },
  { reason, now }: { reason: string; now: string },
): Promise<void> {
  if (!(await isLatest(transaction, install_id, settings))) return;
  await refuseOffload(transaction.queries, install_id, reason, now);
}
