import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { lockRow } from '../../../database/lock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { takeTurn } from '../installs/operation-limits.ts';
import { findInstallAccess } from '../installs/store.ts';
import { type PurgeType, purgeCache } from './jobs.ts';

export type CacheService = ReturnType<typeof createCacheService>;

export function createCacheService({ database, queue, activity, clock }: Platform) {
  return {
    /** Returns the operation's id. */
    async purge(caller: Caller, installId: string, cache: PurgeType): Promise<string> {
      return database.write(async (transaction) => {
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(transaction.queries, caller, installId);
        authorize('install.work', 'install.read', install);
        if (cache === 'object' || cache === 'all')
          await takeTurn(transaction, installId, 'purge_object', clock.now());
        const operationId = await queue.enqueue(transaction, purgeCache, {
          payload: { install_id: installId, cache },
          lane: installId,
          requestId: caller.origin.requestId,
          result: { cache },
        });
        await activity.record(transaction, caller, install.account_id, {
          action: 'cache.purge',
          subject: { id: installId, name: install.name },
          installId,
          details: { type: cache },
        });
        return operationId;
      });
    },
  };
}
