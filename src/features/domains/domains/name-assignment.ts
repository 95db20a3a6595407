import { PLATFORM } from '../../../access/caller.ts';
import type { Transaction } from '../../../database/database.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { applyInstall } from '../../websites/installs/jobs.ts';
import { assignName, type Claim } from './claims.ts';
import {
  claimsOn,
  ownersOfInstall,
  recordReleased,
  serveName,
  setNeedsProof,
  withholdName,
} from './claims-store.ts';
import { notifyNameLost } from './ownership-jobs.ts';

type Parts = Pick<Platform, 'queue' | 'activity' | 'clock'>;

/** The request that changes names. */
interface Cause {
  requestId: string | null;
  /** An install that the caller applies itself. */
  applied?: string;
}

/**
 * Assigns each name to the install that should serve it now, and applies the former and the new install. The caller holds
 * the lock of host names.
 */
export async function assignNames(
  transaction: Transaction,
  { queue, activity }: Pick<Parts, 'queue' | 'activity'>,
  names: readonly string[],
  { requestId, applied }: Cause,
): Promise<void> {
  const { queries } = transaction;
  const changed = new Set<string>();
  for (const name of names) {
    const { gains, loses, needProof, freed } = assignName(await claimsOn(queries, name));
    if (loses) await lose(loses, name);
    await setNeedsProof(queries, needProof, true);
    await setNeedsProof(queries, freed, false);
    if (gains) await serveName(queries, gains.id);
    for (const claim of [loses, gains]) if (claim) changed.add(claim.install_id);
  }
  for (const id of changed) {
    if (id === applied) continue;
    await queue.enqueue(transaction, applyInstall, { payload: { id }, lane: id, requestId });
  }

  /** Notifies the owners without naming the account that verified the domain. */
  async function lose(claim: Claim, name: string): Promise<void> {
    const { id, install_id, account_id } = claim;
    await withholdName(queries, claim);
    await activity.record(transaction, PLATFORM, account_id, {
      action: 'domain.lose',
      subject: { id, name },
      installId: install_id,
    });
    for (const { email, first_name, install, account } of await ownersOfInstall(queries, install_id)) {
      const payload = { to: email, first_name, install, account, install_id, name };
      await queue.enqueue(transaction, notifyNameLost, { payload, lane: null, requestId });
    }
  }
}

/**
 * Releases names that an account served, and assigns each to the next install. For a while, other accounts get them only
 * after verification. The caller holds the lock of host names.
 */
export async function releaseNames(
  transaction: Transaction,
  parts: Parts,
  account_id: string,
  names: readonly string[],
  cause: Cause,
): Promise<void> {
  const released_at = timestamp(parts.clock);
  for (const name of names) await recordReleased(transaction.queries, { name, account_id, released_at });
  await assignNames(transaction, parts, names, cause);
}
