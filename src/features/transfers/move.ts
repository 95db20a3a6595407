import { PLATFORM } from '../../access/caller.ts';
import { parseLimits } from '../../access/limits.ts';
import type { Transaction } from '../../database/database.ts';
import { lockHostNames, lockRow } from '../../database/lock.ts';
import { OPEN_TRANSFER } from '../../database/tables/transfers.ts';
import { PermanentFailure, Postponed } from '../../jobs/job.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Platform } from '../../platform/platform.ts';
import { withdrawArchives } from '../backups/archives/store.ts';
import { assignNames } from '../domains/domains/name-assignment.ts';
import { ownershipDomainOf } from '../domains/domains/ownership.ts';
import { beginVerification } from '../domains/domains/verifications.ts';
import { namesWithin } from '../domains/domains/verifications-store.ts';
import { revokeCredential } from '../identity/credentials/store.ts';
import { holdInstallsOfSite } from '../websites/installs/store.ts';
import { tellOwners } from './news.ts';
import {
  credentialsForInstalls,
  deleteProof,
  findTransferredSite,
  moveJobs,
  moveRows,
  namesOfInstalls,
  setInstallsOfCredential,
} from './ownership-store.ts';
import { hasCrossingCopy, obstacleTo } from './rules.ts';
import { accountExists, changeTransfer, findTransfer, isOwner, type TransferRow } from './store.ts';

type Parts = Pick<Platform, 'queue' | 'activity' | 'clock' | 'random'>;

const NOT_ACCEPTED = 'Nobody accepted the transfer in time.';

/**
 * Carries out an accepted transfer; does nothing if it has ended. Throws PermanentFailure if nobody accepted it or its
 * conditions no longer hold, and Postponed while a copy that it would separate is unfinished.
 */
export async function concludeTransfer(
  transaction: Transaction,
  platform: Parts,
  transferId: string,
): Promise<void> {
  const { queries } = transaction;
  const asked = await findTransfer(queries, transferId);
  if (!asked) return;
  const { site_id: siteId, origin_account_id: originId, destination_account_id: destinationId } = asked;
  await lockHostNames(transaction);
  await lockRow(transaction, 'sites', siteId);
  // Read again, because a request may have ended it before the lock.
  const transfer = await findTransfer(queries, transferId);
  if (!transfer || !isOpen(transfer)) return;
  if (transfer.awaits_acceptance) throw new PermanentFailure(NOT_ACCEPTED);
  const installs = await holdInstallsOfSite(transaction, siteId);
  const ids = installs.map(({ id }) => id);
  // In one order, so that transfers in opposite directions cannot deadlock. Owners stay owners until the commit.
  for (const id of [originId, destinationId].sort()) await lockRow(transaction, 'accounts', id);
  const obstacle = await obstacleNow(transaction, transfer, ids);
  if (obstacle !== null) throw new PermanentFailure(obstacle);
  if (await hasCrossingCopy(queries, ids)) {
    throw new Postponed('Waiting for a copy between this site and another install of the account.');
  }
  const names = await namesOfInstalls(queries, ids);
  await moveRows(queries, { siteId, installIds: ids, originId, destinationId });
  await moveJobs(queries, ids, destinationId);
  const now = timestamp(platform.clock);
  await withdrawArchives(queries, ids, { reason: 'The site was transferred to another account.', now });
  await narrowCredentials(transaction, platform, originId, new Set(ids));
  await moveNames(transaction, platform, { originId, destinationId, names });
  const site = await findTransferredSite(queries, siteId);
  const moved = {
    site_name: site?.name ?? transfer.site_name,
    installs: installs.map(({ id, name }) => ({ id, name })),
  };
  await changeTransfer(queries, transferId, OPEN_TRANSFER, {
    ...moved,
    status: 'completed',
    updated_at: now,
  });
  const { origin_name, destination_name } = transfer;
  const done = { action: 'site_transfer.complete', subject: { id: siteId, name: moved.site_name } } as const;
  await platform.activity.record(transaction, PLATFORM, originId, {
    ...done,
    details: { to: destination_name, installs: ids.length },
  });
  await platform.activity.record(transaction, PLATFORM, destinationId, {
    ...done,
    details: { from: origin_name, installs: ids.length },
  });
  const concluded = { ...transfer, ...moved };
  await tellOwners(transaction, platform, concluded, { news: 'given', to: 'origin' });
  await tellOwners(transaction, platform, concluded, { news: 'received', to: 'destination' });
}

/** Ends an open transfer that cannot be carried out: as cancelled if nobody accepted it, otherwise as failed. The site stays. */
export async function endTransfer(
  transaction: Transaction,
  { queue, activity, clock }: Parts,
  transferId: string,
  reason: string,
): Promise<void> {
  const { queries } = transaction;
  const transfer = await findTransfer(queries, transferId);
  if (!transfer) return;
  const expires = transfer.awaits_acceptance;
  const status = expires ? 'cancelled' : 'failed';
  const updated_at = timestamp(clock);
  if (!(await changeTransfer(queries, transferId, OPEN_TRANSFER, { status, reason, updated_at }))) return;
  const ended = {
    action: expires ? 'site_transfer.cancel' : 'site_transfer.fail',
    subject: { id: transfer.site_id, name: transfer.site_name },
    details: { reason },
  } as const;
  await activity.record(transaction, PLATFORM, transfer.origin_account_id, ended);
  if (transfer.destination_name !== null) {
    await activity.record(transaction, PLATFORM, transfer.destination_account_id, ended);
  }
  const news = expires ? 'expired' : 'failed';
  await tellOwners(transaction, { queue }, transfer, { news, to: 'origin', reason });
}

const isOpen = ({ status }: TransferRow) => OPEN_TRANSFER.some((open) => open === status);

/** Why the transfer cannot be carried out any more; null if it can. */
async function obstacleNow(
  { queries }: Transaction,
  transfer: TransferRow,
  installIds: readonly string[],
): Promise<string | null> {
  const { origin_account_id: originId, destination_account_id: destinationId } = transfer;
  const site = await findTransferredSite(queries, transfer.site_id);
  if (!site || site.account_id !== originId) return 'The site is no longer in the account.';
  if (!(await accountExists(queries, destinationId))) return 'The other account does not exist any more.';
  if (!(await isOwner(queries, originId, transfer.requested_by))) {
    return 'The user who requested the transfer is no longer an owner of the account.';
  }
  if (transfer.accepted_by === null || !(await isOwner(queries, destinationId, transfer.accepted_by))) {
    return 'The user who accepted the transfer is no longer an owner of the other account.';
  }
  return obstacleTo(queries, site, installIds);
}

/** Removes the installs from the limits of the origin's credentials, and revokes those without an install left. */
async function narrowCredentials(
  transaction: Transaction,
  { activity, clock }: Parts,
  originId: string,
  moved: ReadonlySet<string>,
): Promise<void> {
  const { queries } = transaction;
  for (const credential of await credentialsForInstalls(queries, originId)) {
    const { id, user_id: userId, name } = credential;
    const present = parseLimits(credential)?.installIds ?? [];
    const left = present.filter((installId) => !moved.has(installId));
    if (left.length === present.length) continue;
    await setInstallsOfCredential(queries, id, left);
    if (left.length > 0) continue;
    await revokeCredential(queries, id, timestamp(clock));
    await activity.recordForUser(
      transaction,
      PLATFORM,
      { userId, accountId: originId },
      { action: 'credential.revoke', subject: { id, name } },
    );
  }
}

/**
 * The names stay served. The origin's proof of a domain ends if it keeps no name of it, so that it cannot take a name back
 * without a new record; the destination begins its own.
 */
async function moveNames(
  transaction: Transaction,
  platform: Parts,
  { originId, destinationId, names }: { originId: string; destinationId: string; names: readonly string[] },
): Promise<void> {
  const { queries } = transaction;
  for (const registrable of new Set(names.map(ownershipDomainOf))) {
    const kept = await namesWithin(queries, originId, registrable);
    if (kept.length === 0) await deleteProof(queries, { account_id: originId, registrable });
    await beginVerification(transaction, platform, destinationId, registrable);
  }
  await assignNames(transaction, platform, names, { requestId: null });
}
