import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { RATE_LIMITS, type RateCounter, rateLimitKey } from '../../../access/rate-limits.ts';
import type { Transaction } from '../../../database/database.ts';
import { DATABASE_PATH } from '../../../hosting/contract/database-access.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { Conflict, InvalidRequest, RateLimited, UpstreamFailed } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { ConnectionService } from '../installs/connection-service.ts';
import { findInstallAccess, prepareFindInstall } from '../installs/store.ts';
import { findWebsite } from '../installs/website-store.ts';
import { type LinkedWebsite, NO_ANSWER, requireLinkBase } from '../login-links/link-base.ts';

/** A link that opens the database of an install. */
export interface DatabaseLink {
  url: string;
  expiresAt: string;
}

export interface DatabaseLinkParts {
  connections: Pick<ConnectionService, 'of'>;
  limiter: RateCounter;
  /** Asks the host of an install. */
  createDatabaseLink: Host['createDatabaseLink'];
}

export type DatabaseLinkService = ReturnType<typeof createDatabaseLinkService>;

export function createDatabaseLinkService(
  platform: Pick<Platform, 'database' | 'activity' | 'log'>,
  { connections, limiter, createDatabaseLink }: DatabaseLinkParts,
) {
  const { database, activity, log } = platform;
  const findSeen = prepareFindInstall(database);

  /** Asks the host before anything is written: no transaction should wait for it. */
  async function create(website: LinkedWebsite): Promise<DatabaseLink> {
    const base = await requireLinkBase(connections, website);
    const { id, name } = website;
    const link = await createDatabaseLink({ id, name }).catch((cause: unknown) => {
      // The answer hides the cause.
      log.warn({ err: cause, install: id }, 'the host created no link to the database');
      throw new UpstreamFailed(NO_ANSWER, cause);
    });
    if ('refused' in link) throw new Conflict(link.reason);
    const url = new URL(DATABASE_PATH, base);
    url.searchParams.set('token', link.token);
    return { url: url.href, expiresAt: link.expiresAt };
  }

  async function record(transaction: Transaction, actor: Actor, { id, name, account_id }: LinkedWebsite) {
    await activity.record(transaction, actor, account_id, {
      action: 'install.database_link',
      subject: { id, name },
      installId: id,
    });
  }

  /** The limit counts links to WordPress, too. */
  async function spend(userId: string): Promise<void> {
    const { size, windowSeconds } = RATE_LIMITS.loginLinks;
    const count = await limiter.spend(rateLimitKey(RATE_LIMITS.loginLinks, userId), size, windowSeconds);
    if (!count.allowed) throw new RateLimited(count.resetSeconds);
  }

  return {
    async create(caller: Caller, installId: string): Promise<DatabaseLink> {
      const seen = await findSeen(installId, caller);
      authorize('install.work', 'install.read', seen);
      await spend(caller.userId);
      const link = await create(seen.install);
      await database.write(async (transaction) => {
        // The caller may have lost the permission meanwhile. Without an answer, no one has the link.
        authorize(
          'install.work',
          'install.read',
          await findInstallAccess(transaction.queries, caller, installId),
        );
        await record(transaction, caller, seen.install);
      });
      return link;
    },

    /** For the command line. Throws InvalidRequest for an unknown install. */
    async createAsOperator(name: string): Promise<DatabaseLink> {
      const website = await findWebsite(database.reader, { name });
      if (!website) {
        throw new InvalidRequest(`There is no install "${name}"; "homeport install list" shows them all.`);
      }
      const link = await create(website);
      await database.write((transaction) => record(transaction, OPERATOR, website));
      return link;
    },
  };
}
