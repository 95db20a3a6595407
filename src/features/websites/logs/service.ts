import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import type { InstallStatus } from '../../../database/tables/installs.ts';
import { LOG_PAGE, type LogKind } from '../../../hosting/contract/choices.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import type { InstallRef } from '../../../hosting/contract/install-ref.ts';
import type { LogEntries, LogPage, LogQuery } from '../../../hosting/contract/logs.ts';
import { Conflict, UpstreamFailed } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import { requireNamed } from '../installs/requested-website.ts';
import { prepareFindInstall } from '../installs/store.ts';
import { parseEntries } from './entries.ts';
import { followLog, type LogBatch } from './follow.ts';
import { createPlaces } from './places.ts';

/** Conditions for the entries of a log. */
export interface LogFilter {
  from?: string;
  to?: string;
  search?: string;
  status?: string;
}

export interface LogList<Kind extends LogKind> {
  results: LogEntries[Kind][];
  next_cursor: string | null;
  follow_cursor: string;
}

/** How a request that follows a log is checked and ended. */
export interface Following {
  /** Aborts when the client has gone. */
  signal: AbortSignal;
  /** Throws if the credential or session is no longer valid. */
  reauthenticate(): Promise<Caller>;
}

export type LogService = ReturnType<typeof createLogService>;

/** Requests of one user in this process that wait for a host. A search can occupy the host for seconds. */
const READS_PER_USER = 4;
const FOLLOWERS_PER_USER = 5;
const FOLLOWERS_PER_INSTALL = 20;

const STATES: Record<Exclude<InstallStatus, 'active'>, string> = {
  pending: 'The install is still being created. Try again when its status is active.',
  failed: 'The install could not be created, so it has no logs. Delete it and create another one.',
};

export function createLogService(
  { database, log }: Pick<Platform, 'database' | 'log'>,
  { readLog }: Pick<Host, 'readLog'>,
  capabilities: Pick<CapabilityReader, 'requireOf'>,
) {
  const findSeen = prepareFindInstall(database);
  const reads = createPlaces(READS_PER_USER);
  const userFollowers = createPlaces(FOLLOWERS_PER_USER);
  const installFollowers = createPlaces(FOLLOWERS_PER_INSTALL);
  const closing = new AbortController();

  /** The same permission as for SFTP, where users find the same logs. */
  async function admitted(caller: Caller, installId: string): Promise<InstallRef> {
    const seen = await findSeen(installId, caller);
    authorize('install.work', 'install.read', seen);
    return websiteOf(seen.install);
  }

  async function pageOf(install: InstallRef, query: LogQuery, signal?: AbortSignal): Promise<LogPage> {
    const page = await readLog(install, query, signal).catch((cause: unknown) => {
      signal?.throwIfAborted();
      log.warn({ err: cause, install: install.id }, 'the host returned no log');
      throw new UpstreamFailed('The host of the website did not answer. Try again in a minute.', cause);
    });
    if ('refused' in page) throw new Conflict(page.reason);
    return page;
  }

  async function listOf<Kind extends LogKind>(
    install: InstallRef,
    kind: Kind,
    query: Omit<LogQuery, 'kind'>,
  ) {
    const page = await pageOf(install, { ...query, kind });
    return { results: parseEntries(kind, page.lines), next_cursor: page.cursor, follow_cursor: page.end };
  }

  return {
    async list<Kind extends LogKind>(
      caller: Caller,
      installId: string,
      kind: Kind,
      filter: LogFilter,
      page: { cursor: string | null; limit: number },
    ): Promise<LogList<Kind>> {
      const install = await admitted(caller, installId);
      await capabilities.requireOf(database.reader, installId, 'logs');
      const leave = reads.take(caller.userId);
      try {
        return await listOf(install, kind, queryOf(filter, page));
      } finally {
        leave();
      }
    },

    /**
     * Follows a log from the cursor, or from its end. Ends when the client goes, the caller may no longer read the log, or the server
     * stops. Throws RateLimited if there are too many followers.
     */
    async follow<Kind extends LogKind>(
      caller: Caller,
      installId: string,
      kind: Kind,
      filter: LogFilter,
      cursor: string | null,
      { signal, reauthenticate }: Following,
    ): Promise<AsyncGenerator<LogBatch<Kind>>> {
      const install = await admitted(caller, installId);
      await capabilities.requireOf(database.reader, installId, 'logs');
      const query = { ...queryOf(filter, { cursor, limit: LOG_PAGE }), kind, direction: 'newer' as const };
      const leave: (() => void)[] = [];
      const ended = AbortSignal.any([signal, closing.signal]);
      const release = () => {
        for (const one of leave.splice(0)) one();
      };
      // A client that leaves early asks for no batch.
      ended.addEventListener('abort', release, { once: true });
      try {
        ended.throwIfAborted();
        leave.push(userFollowers.take(caller.userId));
        leave.push(installFollowers.take(installId));
        const first = await pageOf(install, query, ended);
        return followLog({
          kind,
          first,
          read: (from) => pageOf(install, { ...query, cursor: from }, ended),
          isAdmitted: async () => {
            await admitted(await reauthenticate(), installId);
          },
          signal: ended,
          ended: release,
        });
      } catch (error) {
        release();
        throw error;
      }
    },

    /** For the command line. Throws InvalidRequest for an unknown install. */
    async readAsOperator<Kind extends LogKind>(
      name: string,
      kind: Kind,
      filter: LogFilter,
      page: { cursor: string | null; limit: number; direction: LogQuery['direction'] },
    ): Promise<LogList<Kind>> {
      const website = await requireNamed(database.reader, name);
      await capabilities.requireOf(database.reader, website.id, 'logs');
      return listOf(websiteOf(website), kind, { ...queryOf(filter, page), direction: page.direction });
    },

    /** Ends all followers, and new ones at once. */
    close(): void {
      closing.abort();
    },
  };
}

function websiteOf({ id, name, status }: InstallRef & { status: InstallStatus }): InstallRef {
  if (status !== 'active') throw new Conflict(STATES[status]);
  return { id, name };
}

function queryOf(
  { from = null, to = null, search = null, status = null }: Partial<Record<keyof LogFilter, string | null>>,
  { cursor, limit }: { cursor: string | null; limit: number },
): Omit<LogQuery, 'kind'> {
  return { from, to, search: search === '' ? null : search, status, cursor, limit, direction: 'older' };
}
