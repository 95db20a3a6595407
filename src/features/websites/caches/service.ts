import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import { lockRow } from '../../../database/lock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { takeTurn } from '../installs/operation-limits.ts';
import { findInstallAccess } from '../installs/store.ts';
import { type PurgeType, purgeCache } from './jobs.ts';
import { namedPages, pathsToPurge } from './page-paths.ts';

export interface Purge {
  cache: PurgeType;
  /** Paths of single pages, with or without queries. */
  paths?: string[] | undefined;
}

export type CacheService = ReturnType<typeof createCacheService>;

export function createCacheService({ database, queue, activity, clock }: Platform) {
  return {
    /** Purges a cache, or with `paths` single pages of the page cache. Returns the operation's id. */
    async purge(caller: Caller, installId: string, { cache, paths: asked }: Purge): Promise<string> {
      const paths = asked && pathsToPurge(cache, asked);
      const named = paths && namedPages(paths);
      return changeFor(database, caller, async (transaction) => {
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(transaction.queries, caller, installId);
        authorize('install.work', 'install.read', install);
        if (cache === 'object' || cache === 'all')
          await takeTurn(transaction, installId, 'purge_object', clock.now());
        const operationId = await queue.enqueue(transaction, purgeCache, {
          payload: { install_id: installId, cache, ...(paths && { paths }) },
          lane: installId,
          requestId: caller.origin.requestId,
          result: { cache, ...(named && { ...named, path_count: String(named.path_count) }) },
        });
        await activity.record(transaction, caller, install.account_id, {
          action: 'cache.purge',
          subject: { id: installId, name: install.name },
          installId,
          details: { type: cache, ...named },
        });
        return operationId;
      });
    },
  };
}
