import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { findMembership, loadScope } from '../../../access/memberships.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Queries } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { CapabilityState } from '../../../hosting/contract/capabilities.ts';
import { Conflict, InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import { takeTurn } from '../installs/operation-limits.ts';
import { requireNamed } from '../installs/requested-website.ts';
import { findInstallAccess } from '../installs/store.ts';
import { findWebsite } from '../installs/website-store.ts';
import { refreshWordPress } from './jobs.ts';
import { findReading, pageOfSummaries, type StoredReading, type WordPressSummaryRow } from './store.ts';

export type WordPressService = ReturnType<typeof createWordPressService>;

/** The WordPress of an install. */
export interface KnownWordPress {
  /** The version that its host runs; null if unknown. */
  version: string | null;
  /** Whether its host reads it. */
  details: CapabilityState;
  /** Null before the first attempt to read it. */
  reading: StoredReading | null;
}

/** An install in the list of an account. */
export interface WordPressSummary {
  row: WordPressSummaryRow;
  /** Whether its host reads it. */
  details: CapabilityState;
}

/** Gives the stored readings of WordPress, and requests new ones. */
export function createWordPressService(
  { database, queue, clock }: Pick<Platform, 'database' | 'queue' | 'clock'>,
  capabilities: Pick<CapabilityReader, 'of' | 'ofMany' | 'require'>,
) {
  async function known(queries: Queries, installId: string): Promise<KnownWordPress> {
    const website = await findWebsite(queries, { id: installId });
    if (!website) throw new NotFound();
    return {
      version: website.wordpress_version,
      details: await capabilities.of(queries, website, 'wordpress_details'),
      reading: (await findReading(queries, installId)) ?? null,
    };
  }

  return {
    async get(caller: Caller, installId: string): Promise<KnownWordPress> {
      return database.snapshot(async (reader) => {
        authorize('install.read', 'install.read', await findInstallAccess(reader, caller, installId));
        return known(reader, installId);
      });
    },

    /** Reads it again and lets it ask for updates. Returns the operation's id. Throws RateLimited. */
    refresh: (caller: Caller, installId: string): Promise<string> =>
      changeFor(database, caller, async (transaction) => {
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(transaction.queries, caller, installId);
        authorize('install.work', 'install.read', install);
        const website = await findWebsite(transaction.queries, { id: installId });
        if (website?.status !== 'active') {
          throw new Conflict('The install has no website yet. Try again when its status is active.');
        }
        await capabilities.require(transaction.queries, website, 'wordpress_details');
        await takeTurn(transaction, installId, 'refresh_wordpress', clock.now());
        return queue.enqueue(transaction, refreshWordPress, {
          payload: { install_id: installId, check: true },
          lane: installId,
          requestId: caller.origin.requestId,
        });
      }),

    /** The installs of an account that the caller sees, by name. `waiting`: only those with updates. */
    async ofAccount(
      caller: Caller,
      accountId: string,
      filters: { waiting: boolean; tags?: string },
      page: PageRequest,
    ): Promise<PageOf<WordPressSummary>> {
      return database.snapshot(async (reader) => {
        const member = await findMembership(reader, caller, accountId);
        authorize('account.read', 'account.read', { role: member?.role ?? null, own: false });
        const scope = await loadScope(reader, caller, accountId);
        const { count, results } = await pageOfSummaries(reader, { accountId, scope, ...filters }, page);
        const states = await capabilities.ofMany(reader, results, 'wordpress_details');
        return { count, results: states.map(({ install, state }) => ({ row: install, details: state })) };
      });
    },

    /** For the command line, by name. Throws InvalidRequest, Conflict. */
    byName: (name: string): Promise<KnownWordPress> =>
      database.snapshot(async (reader) => known(reader, (await requireNamed(reader, name)).id)),

    /** For the command line, by name: as `refresh`. */
    refreshByName: (name: string): Promise<{ jobId: string; installId: string }> =>
      database.write(async (transaction) => {
        const website = await requireNamed(transaction.queries, name);
        const { id, status } = website;
        if (status !== 'active') {
          throw new InvalidRequest(`The install "${name}" is ${status}; only an active one can be read.`);
        }
        await capabilities.require(transaction.queries, website, 'wordpress_details');
        const jobId = await queue.enqueue(transaction, refreshWordPress, {
          payload: { install_id: id, check: true },
          lane: id,
          requestId: OPERATOR.origin.requestId,
        });
        return { jobId, installId: id };
      }),
  };
}
