import type { Logger } from 'pino';
import type { Caller } from '../../../access/caller.ts';
import { Failure, invalidValue, RateLimited } from '../../../lib/failures.ts';
import type { CacheService } from '../caches/service.ts';

/** What can be asked of several installs at once. */
export const OPERATIONS = ['backup', 'purge_page_cache', 'purge_object_cache'] as const;

export interface WantedOperation {
  operation: (typeof OPERATIONS)[number];
  /** Of backups. */
  description: string | null;
}

/** Why an install does not do what was asked. */
export interface Refusal {
  message: string;
  /** Null where trying again later will not help. */
  retry_after_seconds: number | null;
}

export type BulkService = ReturnType<typeof createBulkService>;

/** The part of the backup service that bulk actions use. */
interface Backups {
  request(
    caller: Caller,
    installId: string,
    backup: { description: string; notification_emails: string[] },
  ): Promise<unknown>;
}

interface BulkParts {
  backups: Backups;
  caches: CacheService;
  /** Spends one of the requests that a person has. */
  spend(userId: string): Promise<Spent> | Spent;
  log: Logger;
}

interface Spent {
  allowed: boolean;
  resetSeconds: number;
}

/** Asks the same of several installs in one request, so that nothing depends on whether a page stays open. */
export function createBulkService({ backups, caches, spend, log }: BulkParts) {
  function ask(caller: Caller, installId: string, { operation, description }: WantedOperation) {
    switch (operation) {
      case 'backup':
        return backups.request(caller, installId, {
          description: description ?? '',
          notification_emails: [],
        });
      case 'purge_page_cache':
        return caches.purge(caller, installId, 'page');
      case 'purge_object_cache':
        return caches.purge(caller, installId, 'object');
    }
  }

  /** It costs the person what a request of its own would. Throws RateLimited. */
  async function spendFor({ userId }: Caller): Promise<void> {
    const { allowed, resetSeconds } = await spend(userId);
    if (!allowed) throw new RateLimited(resetSeconds);
  }

  /**
   * For the person who asked. What is no {@link Failure} is said of the one install too: an answer for all would say nothing of those that were asked
   * before it, and who sent them again would ask twice.
   */
  function refusalFor(error: unknown, { origin }: Caller, install: string): Refusal {
    if (!(error instanceof Failure)) {
      log.error({ err: error, request_id: origin.requestId, install }, 'one of several could not be asked');
      return { message: unexpected(origin.requestId), retry_after_seconds: null };
    }
    const retry_after_seconds = error instanceof RateLimited ? error.retryAfterSeconds : null;
    return { message: error.message, retry_after_seconds };
  }

  return {
    /** One result for each install, in their order; a refusal of one holds up no other. Throws InvalidRequest. */
    async ask(
      caller: Caller,
      installIds: readonly string[],
      wanted: WantedOperation,
    ): Promise<{ install_id: string; refusal: Refusal | null }[]> {
      if (wanted.operation === 'backup' && (wanted.description ?? '').trim() === '')
        throw invalidValue('Backup', 'description', 'required', 'Backup description cannot be empty');
      const results: { install_id: string; refusal: Refusal | null }[] = [];
      for (const install_id of new Set(installIds.map((id) => id.toLowerCase()))) {
        try {
          // The first is what the request itself was counted for.
          if (results.length > 0) await spendFor(caller);
          await ask(caller, install_id, wanted);
          results.push({ install_id, refusal: null });
        } catch (error) {
          results.push({ install_id, refusal: refusalFor(error, caller, install_id) });
        }
      }
      return results;
    },
  };
}

/** It may have been asked for all the same: a connection can be lost after the work was done. */
const unexpected = (requestId: string | null) =>
  `It failed unexpectedly. Look whether it has begun before you ask again${requestId === null ? '' : `; your provider finds the cause in the log under the number ${requestId}`}.`;
