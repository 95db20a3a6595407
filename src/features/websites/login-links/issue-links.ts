import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { RATE_LIMITS, type RateCounter, rateLimitKey } from '../../../access/rate-limits.ts';
import type { Transaction } from '../../../database/database.ts';
import { RateLimited } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { requireNamed } from '../installs/requested-website.ts';
import { findInstallAccess, prepareFindInstall } from '../installs/store.ts';
import type { LinkedWebsite } from './link-base.ts';

export interface IssuedLinks<Link> {
  limiter: RateCounter;
  /** Writes the activity. Without it, no one gets the link. */
  record(transaction: Transaction, actor: Actor, website: LinkedWebsite, link: Link): Promise<void>;
}

/** Makes a link. Called before anything is written: no transaction should wait for the host. */
type MakeLink<Link> = (website: LinkedWebsite) => Promise<Link>;

/** Issues links into websites, to their database or WordPress. All count for the same limit. */
export function createLinkIssuer<Link>(
  { database }: Pick<Platform, 'database'>,
  { limiter, record }: IssuedLinks<Link>,
) {
  const findSeen = prepareFindInstall(database);

  async function spend(userId: string): Promise<void> {
    const { size, windowSeconds } = RATE_LIMITS.loginLinks;
    const count = await limiter.spend(rateLimitKey(RATE_LIMITS.loginLinks, userId), size, windowSeconds);
    if (!count.allowed) throw new RateLimited(count.resetSeconds);
  }

  return {
    /** Throws NotFound, Forbidden, RateLimited, and as `make`. */
    async issue(caller: Caller, installId: string, make: MakeLink<Link>): Promise<Link> {
      const seen = await findSeen(installId, caller);
      authorize('install.work', 'install.read', seen);
      await spend(caller.userId);
      const link = await make(seen.install);
      await database.write(async (transaction) => {
        // The caller may have lost the permission meanwhile.
        const access = await findInstallAccess(transaction.queries, caller, installId);
        authorize('install.work', 'install.read', access);
        await record(transaction, caller, seen.install, link);
      });
      return link;
    },

    /** For the command line. Throws InvalidRequest for an unknown install, and as `make`. */
    async issueAsOperator(name: string, make: MakeLink<Link>): Promise<Link> {
      const website = await requireNamed(database.reader, name);
      const link = await make(website);
      await database.write((transaction) => record(transaction, OPERATOR, website, link));
      return link;
    },
  };
}
