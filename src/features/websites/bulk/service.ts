import type { Logger } from 'pino';
import type { Caller } from '../../../access/caller.ts';
import { Failure, invalidValue, RateLimited } from '../../../lib/failures.ts';
import type { CacheService } from '../caches/service.ts';

/** The operations available as bulk actions. */
export const OPERATIONS = ['backup', 'purge_page_cache', 'purge_object_cache', 'purge_all_caches'] as const;

export interface WantedOperation {
  operation: (typeof OPERATIONS)[number];
  /** Description of backups. */
  description: string | null;
}

/** Why an install was refused. */
export interface Refusal {
  message: string;
  /** Null if a later retry does not help. */
  retry_after_seconds: number | null;
}

/** The outcome for one install: its operation, or why it was refused. */
export interface InstallResult {
  install_id: string;
  operation_id: string | null;
  refusal: Refusal | null;
}

export type BulkService = ReturnType<typeof createBulkService>;

/** The part of the backup service that bulk actions use. */
interface Backups {
  request(
    caller: Caller,
    installId: string,
    backup: { description: string; notification_emails: string[] },
  ): Promise<{ operationId: string }>;
}

interface BulkParts {
  backups: Backups;
  caches: CacheService;
  /** Counts one request against the user's rate limit. */
  spend(userId: string): Promise<Spent> | Spent;
  log: Logger;
}

interface Spent {
  allowed: boolean;
  resetSeconds: number;
}

/** Requests one operation for many installs in one request, so it does not depend on an open page. */
export function createBulkService({ backups, caches, spend, log }: BulkParts) {
  /** Returns the operation's id. */
  async function ask(
    caller: Caller,
    installId: string,
    { operation, description }: WantedOperation,
  ): Promise<string> {
    switch (operation) {
      case 'backup': {
        const wanted = { description: description ?? '', notification_emails: [] };
        return (await backups.request(caller, installId, wanted)).operationId;
      }
      case 'purge_page_cache':
        return caches.purge(caller, installId, { cache: 'page' });
      case 'purge_object_cache':
        return caches.purge(caller, installId, { cache: 'object' });
      case 'purge_all_caches':
        return caches.purge(caller, installId, { cache: 'all' });
    }
  }

  /** Counts the install like a separate request. Throws RateLimited. */
  async function spendFor({ userId }: Caller): Promise<void> {
    const { allowed, resetSeconds } = await spend(userId);
    if (!allowed) throw new RateLimited(resetSeconds);
  }

  /**
   * Presents a refusal to the user. An unexpected error also becomes the result of its one install: failing the whole
   * request would hide earlier results, and a retry would repeat them.
   */
  function refusalFor(error: unknown, { origin }: Caller, install: string): Refusal {
    if (!(error instanceof Failure)) {
      log.error({ err: error, request_id: origin.requestId, install }, 'bulk action failed for an install');
      return { message: unexpected(origin.requestId), retry_after_seconds: null };
    }
    const retry_after_seconds = error instanceof RateLimited ? error.retryAfterSeconds : null;
    return { message: error.message, retry_after_seconds };
  }

  return {
    /** Returns one result for each install, in order; one refusal does not stop the others. Throws InvalidRequest. */
    async ask(
      caller: Caller,
      installIds: readonly string[],
      wanted: WantedOperation,
    ): Promise<InstallResult[]> {
      if (wanted.operation === 'backup' && (wanted.description ?? '').trim() === '')
        throw invalidValue('Backup', 'description', 'required', 'Backup description cannot be empty');
      const results: InstallResult[] = [];
      for (const install_id of new Set(installIds.map((id) => id.toLowerCase()))) {
        try {
          // The request itself already counts for the first install.
          if (results.length > 0) await spendFor(caller);
          const operation_id = await ask(caller, install_id, wanted);
          results.push({ install_id, operation_id, refusal: null });
        } catch (error) {
          const refusal = refusalFor(error, caller, install_id);
          results.push({ install_id, operation_id: null, refusal });
        }
      }
      return results;
    },
  };
}

/** The operation may have been requested all the same: a connection can be lost after the commit. */
const unexpected = (requestId: string | null) =>
  `Unexpected error. Check whether the operation has started before you try again${requestId === null ? '' : `; your provider finds the cause in the log under the number ${requestId}`}.`;
