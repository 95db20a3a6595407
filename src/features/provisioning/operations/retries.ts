import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { Caller } from '../../../access/caller.ts';
import type { Verb } from '../../../access/permissions.ts';
import type { JobType } from '../../../jobs/job.ts';
import { Conflict } from '../../../lib/failures.ts';
import type { OperationKind } from '../../../lib/operation.ts';
import type { ArchiveService } from '../../backups/archives/service.ts';
import type { ImportService } from '../../backups/imports/service.ts';
import {
  changeWordPressItem,
  copyInstall,
  createArchive,
  createBackup,
  importWebsite,
  prepareCopy,
  restoreBackup,
} from '../../backups/jobs.ts';
import type { BackupService } from '../../backups/service.ts';
import { orderCertificate } from '../../domains/certificates/jobs.ts';
import type { CertificateService } from '../../domains/certificates/service.ts';
import type { ChangeService } from '../../updates/changes/service.ts';
import { planUpdate, updateWebsite } from '../../updates/jobs.ts';
import type { UpdateService } from '../../updates/service.ts';
import { purgeCache } from '../../websites/caches/jobs.ts';
import type { CacheService } from '../../websites/caches/service.ts';
import { applyInstall, provisionInstall, updatePhp } from '../../websites/installs/jobs.ts';
import type { InstallService } from '../../websites/installs/service.ts';
import { configureOffload, removeOffload } from '../../websites/offload/jobs.ts';
import type { OffloadService } from '../../websites/offload/service.ts';
import { refreshWordPress } from '../../websites/wordpress/jobs.ts';
import type { WordPressService } from '../../websites/wordpress/service.ts';
import type { WebsiteRetry } from './retry-website.ts';

/** The services that repeat work. Each checks its own rules again, as for a new request. */
export interface RepeatingServices {
  archives: ArchiveService;
  backups: BackupService;
  caches: CacheService;
  certificates: CertificateService;
  imports: ImportService;
  installs: InstallService;
  itemChanges: ChangeService;
  offload: OffloadService;
  updates: UpdateService;
  websites: WebsiteRetry;
  wordpress: WordPressService;
}

/** The failed operation: the payload and the stored result of its job. */
interface Failed<Payload> {
  installId: string;
  payload: Payload;
  result: unknown;
}

/** How operations of one type of job are repeated. */
export interface Retry {
  /** The permission of the action. */
  verb: Verb;
  /** Starts the work again. Returns the operation's id. */
  start(caller: Caller, failed: Failed<unknown>): Promise<string>;
}

export type Retries = ReturnType<typeof createRetries>;

/** The failed operations that can be repeated, with the input of their jobs alone (docs/decisions/failures.md). */
export function createRetries(services: RepeatingServices) {
  const table: Record<string, Retry> = {};
  const kinds = new Set<OperationKind>();

  function repeat<Schema extends TSchema>(
    { name, payload: schema, operation }: JobType<Schema>,
    verb: Verb,
    start: (caller: Caller, failed: Failed<Static<Schema>>) => Promise<string | null>,
  ): void {
    // Other jobs continue an operation.
    if (operation !== undefined) kinds.add(operation);
    table[name] = {
      verb,
      async start(caller, { payload, ...failed }) {
        const operationId = await start(caller, { ...failed, payload: Value.Parse(schema, payload) });
        if (operationId === null) throw new Conflict('There is nothing left to do.');
        return operationId;
      },
    };
  }

  repeat(provisionInstall, 'install.change', (caller, { installId }) =>
    services.websites.create(caller, installId),
  );
  repeat(applyInstall, 'install.work', (caller, { installId }) => services.websites.apply(caller, installId));
  repeat(updatePhp, 'install.change', async (caller, { installId, payload: { version } }) => {
    return (await services.installs.update(caller, installId, { php_version: version })).operationId;
  });
  repeat(createBackup, 'install.work', (caller, { installId, payload: { backup_id } }) =>
    services.backups.repeat(caller, installId, backup_id),
  );
  repeat(restoreBackup, 'install.work', (caller, { installId, payload }) => {
    if (payload.puts_back === true) throw partOfOther();
    const { backup_id, from_id = installId, files = true, paths, database = true, tables = null } = payload;
    return services.backups.restore(caller, from_id, backup_id, {
      into: installId,
      parts: { files, paths, database, tables },
      checkpoint: payload.checkpoint_id !== undefined,
      notification_emails: payload.notify ?? [],
    });
  });
  for (const kind of [prepareCopy, copyInstall]) {
    repeat(kind, 'install.work', (caller, { installId, payload, result }) => {
      const { from_id, files = true, database = true, tables = null } = payload;
      return services.backups.copy(caller, from_id, {
        into: installId,
        // The result names a backup only if it is kept.
        keepBackup: typeof result === 'object' && result !== null && 'backup_id' in result,
        checkpoint: payload.checkpoint_id !== undefined,
        parts: { files, database, tables },
        notification_emails: payload.notify ?? [],
      });
    });
  }
  repeat(importWebsite, 'install.work', (caller, { installId, payload }) =>
    services.imports.repeat(caller, installId, payload),
  );
  repeat(createArchive, 'install.work', (caller, { installId, payload: { archive_id, backup_id } }) =>
    services.archives.repeat(caller, installId, { archive_id, backup_id }),
  );
  repeat(orderCertificate, 'install.work', (caller, { installId, payload: { domain_id } }) =>
    services.certificates.order(caller, installId, domain_id),
  );
  repeat(purgeCache, 'install.work', (caller, { installId, payload: { cache, paths } }) =>
    services.caches.purge(caller, installId, { cache, paths }),
  );
  repeat(configureOffload, 'install.work', (caller, { installId, payload: { settings } }) =>
    services.offload.replace(caller, installId, settings),
  );
  repeat(removeOffload, 'install.work', (caller, { installId }) =>
    services.offload.remove(caller, installId),
  );
  repeat(refreshWordPress, 'install.work', (caller, { installId }) =>
    services.wordpress.refresh(caller, installId),
  );
  repeat(planUpdate, 'install.work', (caller, { installId, payload: { update_id, keep } }) =>
    services.updates.repeat(caller, installId, update_id, keep),
  );
  repeat(updateWebsite, 'install.work', (caller, { installId, payload: { update_id, keep } }) =>
    services.updates.repeat(caller, installId, update_id, keep),
  );
  repeat(changeWordPressItem, 'install.work', (caller, { installId, payload: { sealed_change } }) =>
    services.itemChanges.repeat(caller, installId, sealed_change),
  );

  return {
    /** The kinds of the operations that can be repeated. */
    kinds,

    /** How an operation with this job is repeated; null if it cannot be. */
    of: ({ kind, payload }: { kind: string; payload: unknown }): Retry | null =>
      isPartOfOther(kind, payload) ? null : (table[kind] ?? null),
  };
}

const partOfOther = () => new Conflict('This is a part of other work. Repeat that work.');

/** Whether a checkpoint is put back, which only the failed work needed. */
const isPartOfOther = (kind: string, payload: unknown): boolean =>
  kind === restoreBackup.name && Value.Check(restoreBackup.payload, payload) && payload.puts_back === true;
