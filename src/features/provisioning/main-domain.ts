import { PLATFORM } from '../../access/caller.ts';
import type { Transaction } from '../../database/database.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import type { Host } from '../../hosting/contract/host.ts';
import { isBegun, noteBegun } from '../../jobs/begun-store.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../jobs/job.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Platform } from '../../platform/platform.ts';
import { recordDomain } from '../domains/domains/domain-activity.ts';
import { findDomain, findPrimary, setPrimary } from '../domains/domains/store.ts';
import { permanently, postponing } from '../hosts/host-failures.ts';
import { applyInstall, type PrimaryChange, replaceUrls } from '../websites/installs/jobs.ts';
import { findActiveInstall, findWebsite } from '../websites/installs/website-store.ts';
import { loadDesiredState } from './desired-state.ts';

/**
 * Makes the former main domain the main domain again after a change to another one failed. False if the main domain was changed since, or
 * the former one is gone.
 */
export async function takeBackPrimary(
  platform: Pick<Platform, 'activity'>,
  transaction: Transaction,
  installId: string,
  { from, to }: PrimaryChange,
): Promise<boolean> {
  const { queries } = transaction;
  if (from === null || (await findPrimary(queries, installId))?.id !== to) return false;
  const former = await findDomain(queries, installId, from);
  const install = await findWebsite(queries, { id: installId });
  if (former === undefined || former.is_duplicate || install === undefined) return false;
  await setPrimary(queries, installId, from);
  await recordDomain(transaction, platform, PLATFORM, {
    accountId: install.account_id,
    action: 'domain.update',
    domain: former,
    details: { primary: true },
  });
  return true;
}

/** Does the same for a job that was given up, and lets the host follow before anything else of the install. */
export async function takeBackPrimaryLater(
  platform: Pick<Platform, 'activity' | 'queue'>,
  transaction: Transaction,
  installId: string,
  change: PrimaryChange | undefined,
): Promise<void> {
  if (change === undefined || !(await takeBackPrimary(platform, transaction, installId, change))) return;
  await platform.queue.enqueue(transaction, applyInstall, {
    payload: { id: installId },
    lane: installId,
    ahead: true,
  });
}

/** The job that replaces URLs after a change was applied. If it cannot, a change of the main domain is taken back before it fails. */
export function replaceUrlsKind(platform: Platform, host: Host): JobKind {
  const { database, clock } = platform;

  /** Lets the host follow the database, which has the former main domain again. */
  async function applyFormer(installId: string, signal: AbortSignal): Promise<void> {
    const former = await loadDesiredState(platform, installId);
    if (former === undefined) return;
    await permanently(postponing(host.apply(former, signal)));
    // The database has the former name only. This lets the host forget the other one.
    await postponing(host.replaceUrls(former, signal)).catch((error: unknown) => {
      if (!(error instanceof PermanentHostError)) throw error;
    });
  }

  return defineJob({
    ...replaceUrls,
    async run({ id, primary }, { id: jobId, signal, log }) {
      const install = await findActiveInstall(database.reader, id);
      if (!install) return;
      let reason = 'The URLs in the database could not be replaced.';
      let isTakenBack = await isBegun(database.reader, jobId);
      if (!isTakenBack) {
        try {
          return await postponing(host.replaceUrls(install, signal));
        } catch (cause) {
          if (!(cause instanceof PermanentHostError)) throw cause;
          log.warn({ err: cause }, 'could not replace URLs');
          isTakenBack = await database.write(async (transaction) => {
            if (primary === undefined || !(await takeBackPrimary(platform, transaction, id, primary))) {
              return false;
            }
            await noteBegun(transaction.queries, jobId, timestamp(clock));
            return true;
          });
          if (!isTakenBack) throw new PermanentFailure(cause.message, { code: 'urls_not_replaced', cause });
          reason = cause.message;
        }
      }
      await applyFormer(id, signal);
      const main = (await findPrimary(database.reader, id))?.name ?? install.name;
      throw new PermanentFailure(`${reason.replace(/\.?$/, '.')} The main domain is still ${main}.`, {
        code: 'change_refused',
      });
    },
    giveUp: ({ id, primary }, _failure, transaction) =>
      takeBackPrimaryLater(platform, transaction, id, primary),
  });
}
