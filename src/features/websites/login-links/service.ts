import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { RATE_LIMITS, type RateCounter, rateLimitKey } from '../../../access/rate-limits.ts';
import type { Transaction } from '../../../database/database.ts';
import { type Host, LOGIN_PATH, type WordPressLogin } from '../../../hosting/contract/host.ts';
import {
  Conflict,
  InvalidRequest,
  invalidValue,
  RateLimited,
  UpstreamFailed,
} from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { ConnectionService } from '../installs/connection-service.ts';
import { findInstallAccess, prepareFindInstall } from '../installs/store.ts';
import { findWebsite } from '../installs/website-store.ts';
import { type LinkedWebsite, NO_ANSWER, requireLinkBase } from './link-base.ts';

/** The resource that faults of a request name. */
export const LOGIN_LINK = 'LoginLink';

/** A link that signs in to WordPress. */
export interface LoginLink {
  url: string;
  expiresAt: string;
  /** The user name in WordPress. */
  user: string;
}

export interface LoginLinkParts {
  connections: Pick<ConnectionService, 'of'>;
  limiter: RateCounter;
  /** Asks the host of an install. */
  createLogin: Host['createLogin'];
}

export type LoginLinkService = ReturnType<typeof createLoginLinkService>;

export function createLoginLinkService(
  platform: Pick<Platform, 'database' | 'activity' | 'log'>,
  { connections, limiter, createLogin }: LoginLinkParts,
) {
  const { database, activity, log } = platform;
  const findSeen = prepareFindInstall(database);

  /** Asks the host before anything is written: it can take seconds, which no transaction should wait for. */
  async function create(website: LinkedWebsite, user: string | null): Promise<LoginLink> {
    const base = await requireLinkBase(connections, website);
    const { id, name } = website;
    const login = await loginOf({ id, name }, user);
    const url = new URL(LOGIN_PATH, base);
    url.searchParams.set('token', login.token);
    return { url: url.href, expiresAt: login.expiresAt, user: login.user };
  }

  async function loginOf(
    install: { id: string; name: string },
    user: string | null,
  ): Promise<WordPressLogin> {
    const login = await createLogin(install, user).catch((cause: unknown) => {
      throw new UpstreamFailed(NO_ANSWER, cause);
    });
    if (!('refused' in login)) return login;
    if (login.refused === 'unknown_user') throw invalidValue(LOGIN_LINK, 'user', 'unknown', login.reason);
    throw new Conflict(login.reason);
  }

  async function record(
    transaction: Transaction,
    actor: Actor,
    { id, name, account_id }: LinkedWebsite,
    user: string,
  ) {
    await activity.record(transaction, actor, account_id, {
      action: 'install.login_link',
      subject: { id, name },
      installId: id,
      details: { user },
    });
  }

  async function spend(userId: string): Promise<void> {
    const { size, windowSeconds } = RATE_LIMITS.loginLinks;
    const count = await limiter.spend(rateLimitKey(RATE_LIMITS.loginLinks, userId), size, windowSeconds);
    if (!count.allowed) throw new RateLimited(count.resetSeconds);
  }

  return {
    /** `user`: a user name of WordPress; null for the oldest administrator. */
    async create(caller: Caller, installId: string, user: string | null): Promise<LoginLink> {
      const seen = await findSeen(installId, caller);
      authorize('install.work', 'install.read', seen);
      await spend(caller.userId);
      const link = await create(seen.install, user).catch((err: unknown) => {
        // The answer hides the cause.
        if (err instanceof UpstreamFailed) {
          log.warn({ err, install: installId }, 'the host created no login to WordPress');
        }
        throw err;
      });
      await database.write(async (transaction) => {
        // The caller may have lost the permission meanwhile. Without an answer, no one has the link.
        authorize(
          'install.work',
          'install.read',
          await findInstallAccess(transaction.queries, caller, installId),
        );
        await record(transaction, caller, seen.install, link.user);
      });
      return link;
    },

    /** For the command line. Throws InvalidRequest for an unknown install. */
    async createAsOperator(name: string, user: string | null): Promise<LoginLink> {
      const website = await findWebsite(database.reader, { name });
      if (!website) {
        throw new InvalidRequest(`There is no install "${name}"; "homeport install list" shows them all.`);
      }
      const link = await create(website, user);
      await database.write((transaction) => record(transaction, OPERATOR, website, link.user));
      return link;
    },
  };
}
