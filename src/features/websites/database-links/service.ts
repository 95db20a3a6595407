import type { Caller } from '../../../access/caller.ts';
import type { RateCounter } from '../../../access/rate-limits.ts';
import { DATABASE_PATH } from '../../../hosting/contract/database-access.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { Conflict, UpstreamFailed } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import type { ConnectionService } from '../installs/connection-service.ts';
import { createLinkIssuer } from '../login-links/issue-links.ts';
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
  capabilities: Pick<CapabilityReader, 'requireOf'>;
}

export type DatabaseLinkService = ReturnType<typeof createDatabaseLinkService>;

export function createDatabaseLinkService(
  platform: Pick<Platform, 'database' | 'activity' | 'log'>,
  { connections, limiter, createDatabaseLink, capabilities }: DatabaseLinkParts,
) {
  const { database, activity, log } = platform;
  const links = createLinkIssuer<DatabaseLink>(platform, {
    limiter,
    async record(transaction, actor, { id, name, account_id }) {
      await activity.record(transaction, actor, account_id, {
        action: 'install.database_link',
        subject: { id, name },
        installId: id,
      });
    },
  });

  async function create(website: LinkedWebsite): Promise<DatabaseLink> {
    const { id, name } = website;
    await capabilities.requireOf(database.reader, id, 'database_access');
    const base = await requireLinkBase(connections, website);
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

  return {
    create: (caller: Caller, installId: string): Promise<DatabaseLink> =>
      links.issue(caller, installId, create),

    /** For the command line. Throws InvalidRequest for an unknown install. */
    createAsOperator: (name: string): Promise<DatabaseLink> => links.issueAsOperator(name, create),
  };
}
