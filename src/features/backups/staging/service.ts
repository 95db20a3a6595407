import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { lockRow } from '../../../database/lock.ts';
import { Conflict } from '../../../lib/failures.ts';
import type { WithOperation } from '../../../lib/operation.ts';
import type { Platform } from '../../../platform/platform.ts';
import { loadInstallOptions } from '../../hosts/install-options.ts';
import type { InstallService } from '../../websites/installs/service.ts';
import { findInstallAccess, type InstallView } from '../../websites/installs/store.ts';
import { awaitCopy, isCopyAwaited } from '../awaited-copies-store.ts';
import { EVERYTHING, type ReplacedParts } from '../replaced-parts.ts';
import type { BackupService } from '../service.ts';
import { findProductionOf, isBeingReplaced } from './store.ts';

/** The resource that faults of a push name. */
export const PUSH = 'InstallPush';

export interface WantedPush {
  /** The install to replace; null for the production install of the same site. */
  to: string | null;
  parts: ReplacedParts;
  notification_emails: readonly string[];
}

export type StagingService = ReturnType<typeof createStagingService>;

/** Makes staging copies of installs, and pushes them back. */
export function createStagingService(
  { config, database }: Pick<Platform, 'config' | 'database'>,
  {
    installs,
    backups,
  }: {
    installs: Pick<InstallService, 'get' | 'create'>;
    backups: Pick<BackupService, 'copy' | 'enqueueCopy'>;
  },
) {
  return {
    /**
     * Creates a staging install in the site of an install, and copies everything into it once both are ready. Returns it with the
     * operation of the copy. Throws NotFound, Forbidden, InvalidRequest, RateLimited; Conflict if the install has no site or does not
     * serve yet.
     */
    async create(caller: Caller, installId: string, name: string): Promise<WithOperation<InstallView>> {
      const source = await installs.get(caller, installId);
      if (source.site_id === null) {
        throw new Conflict('The install is in no site. Move it into one first.');
      }
      if (source.status !== 'active') {
        throw new Conflict(`The install is ${source.status}; only an active one can be copied.`);
      }
      const { account_id, site_id, php_version } = source;
      return installs.create(
        caller,
        { name, account_id, site_id, environment: 'staging', php_version: await offered(php_version) },
        async (transaction, target) => {
          await lockRow(transaction, 'installs', installId);
          const present = await findInstallAccess(transaction.queries, caller, installId);
          authorize('install.work', 'install.read', present);
          await awaitCopy(transaction.queries, target.id);
          // The new install has nothing to go back to.
          const wanted = { keepBackup: false, checkpoint: false, parts: EVERYTHING, notify: [] };
          const from = { id: installId, name: present.name, account_id };
          return backups.enqueueCopy(transaction, caller, from, target, wanted);
        },
      );
    },

    /**
     * Copies an install over the production install of its site, or over `to`, with a checkpoint. Returns the operation's id. Throws
     * NotFound, Forbidden, InvalidRequest, RateLimited; Conflict if the site has no other production install, while the install is
     * being replaced itself, or if the copy that it was created for did not succeed.
     */
    async push(
      caller: Caller,
      installId: string,
      { to, parts, notification_emails }: WantedPush,
    ): Promise<string> {
      const source = await installs.get(caller, installId);
      // A new staging install has another content until its copy has ended.
      if (await isBeingReplaced(database.reader, installId)) {
        throw new Conflict('The install is being replaced itself. Push it when that has finished.');
      }
      if (await isCopyAwaited(database.reader, installId)) {
        throw new Conflict(
          'The copy into this install did not succeed, so it has a new website only. Copy, restore or import a website into it first.',
        );
      }
      const into = to ?? (await productionOf(source));
      return backups.copy(
        caller,
        installId,
        { into, keepBackup: false, checkpoint: true, parts, notification_emails },
        { resource: PUSH, field: 'to' },
      );
    },
  };

  /** The PHP version, if a host offers it. An upgrade of the machines may have removed it. */
  async function offered(version: string | null): Promise<string | null> {
    if (config.host === 'embedded') return null;
    const { phpVersions } = await loadInstallOptions(database.reader);
    return version !== null && phpVersions.includes(version) ? version : null;
  }

  async function productionOf({ id, site_id }: Pick<InstallView, 'id' | 'site_id'>): Promise<string> {
    const found = site_id === null ? undefined : await findProductionOf(database.reader, site_id);
    if (found === undefined || found === id) {
      throw new Conflict(
        'The site has no other install in its production environment. Name the install to replace.',
      );
    }
    return found;
  }
}
