import type { Caller } from '../../../access/caller.ts';
import type { RateCounter } from '../../../access/rate-limits.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { LOGIN_PATH, type WordPressLogin } from '../../../hosting/contract/wordpress-login.ts';
import { Conflict, invalidValue, UpstreamFailed } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import type { ConnectionService } from '../installs/connection-service.ts';
import { createLinkIssuer } from './issue-links.ts';
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
  capabilities: Pick<CapabilityReader, 'requireOf'>;
}

export type LoginLinkService = ReturnType<typeof createLoginLinkService>;

export function createLoginLinkService(
  platform: Pick<Platform, 'database' | 'activity' | 'log'>,
  { connections, limiter, createLogin, capabilities }: LoginLinkParts,
) {
  const { database, activity, log } = platform;
  const links = createLinkIssuer<LoginLink>(platform, {
    limiter,
    async record(transaction, actor, { id, name, account_id }, { user }) {
      await activity.record(transaction, actor, account_id, {
        action: 'install.login_link',
        subject: { id, name },
        installId: id,
        details: { user },
      });
    },
  });

  async function create(website: LinkedWebsite, user: string | null): Promise<LoginLink> {
    const { id, name } = website;
    await capabilities.requireOf(database.reader, id, 'wordpress_login');
    const base = await requireLinkBase(connections, website);
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
      // The answer hides the cause.
      log.warn({ err: cause, install: install.id }, 'the host created no login to WordPress');
      throw new UpstreamFailed(NO_ANSWER, cause);
    });
    if (!('refused' in login)) return login;
    if (login.refused === 'unknown_user') throw invalidValue(LOGIN_LINK, 'user', 'unknown', login.reason);
    throw new Conflict(login.reason);
  }

  return {
    /** `user`: a user name of WordPress; null for the oldest administrator. */
    create: (caller: Caller, installId: string, user: string | null): Promise<LoginLink> =>
      links.issue(caller, installId, (website) => create(website, user)),

    /** For the command line. Throws InvalidRequest for an unknown install. */
    createAsOperator: (name: string, user: string | null): Promise<LoginLink> =>
      links.issueAsOperator(name, (website) => create(website, user)),
  };
}
