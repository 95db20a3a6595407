import type { Caller } from '../../access/caller.ts';
import { Failure, invalidValue, RateLimited } from '../../failures.ts';
import type { BackupService } from '../backups/service.ts';
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

export type SeveralService = ReturnType<typeof createSeveralService>;

/** Asks the same of several installs in one request, so that nothing depends on whether a page stays open. */
export function createSeveralService({ backups, caches }: { backups: BackupService; caches: CacheService }) {
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

  /** Null where it was asked for. What is no {@link Failure} goes on to whoever answers the request. */
  async function refusalOf(asked: Promise<unknown>): Promise<Refusal | null> {
    try {
      await asked;
      return null;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const retry_after_seconds = error instanceof RateLimited ? error.retryAfterSeconds : null;
      return { message: error.message, retry_after_seconds };
    }
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
      const results = [];
      for (const install_id of new Set(installIds.map((id) => id.toLowerCase()))) {
        results.push({ install_id, refusal: await refusalOf(ask(caller, install_id, wanted)) });
      }
      return results;
    },
  };
}
