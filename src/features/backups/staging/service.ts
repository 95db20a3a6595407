import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { InstallRef } from '../../../hosting/contract/install-ref.ts';
import { Conflict } from '../../../lib/failures.ts';
import type { WithOperation } from '../../../lib/operation.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { loadInstallOptions } from '../../hosts/install-options.ts';
import { requireNamed } from '../../websites/installs/requested-website.ts';
import type { InstallService, NewInstall } from '../../websites/installs/service.ts';
import { findInstallAccess, type InstallView } from '../../websites/installs/store.ts';
import { findInstallRef, findWebsite } from '../../websites/installs/website-store.ts';
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
    installs: Pick<InstallService, 'get' | 'create' | 'createAsOperator'>;
    backups: Pick<BackupService, 'copy' | 'copyAsOperator' | 'enqueueCopy'>;
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
      return installs.create(caller, await stagingOf(source, name), async (transaction, target) => {
        await lockRow(transaction, 'installs', installId);
        const present = await findInstallAccess(transaction.queries, caller, installId);
        authorize('install.work', 'install.read', present);
        return fill(transaction, caller, { ...present, id: installId }, target);
      });
    },

    /** For the command line, by name. Throws InvalidRequest for an unknown install; Conflict as `create`. */
    async createAsOperator(sourceName: string, name: string): Promise<{ id: string; jobId: string }> {
      const source = await requireNamed(database.reader, sourceName);
      const wanted = await stagingOf(source, name);
      const { id, operationId } = await installs.createAsOperator(wanted, async (transaction, target) => {
        await lockRow(transaction, 'installs', source.id);
        return fill(transaction, OPERATOR, source, target);
      });
      return { id, jobId: operationId };
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
      await requirePushable(installId);
      const into = to ?? (await productionOf(source));
      return backups.copy(
        caller,
        installId,
        { into, keepBackup: false, checkpoint: true, parts, notification_emails },
        { resource: PUSH, field: 'to' },
      );
    },

    /** For the command line: the install that a push replaces. Throws InvalidRequest for unknown installs; Conflict as `push`. */
    async targetOf(sourceName: string, to?: string): Promise<InstallRef> {
      const source = await requireNamed(database.reader, sourceName);
      await requirePushable(source.id);
      if (to !== undefined) return requireNamed(database.reader, to);
      const target = await findInstallRef(database.reader, await productionOf(source));
      if (target === undefined) throw noProduction();
      return target;
    },

    /** For the command line: copies an install over another one by its name, with a checkpoint. Throws as `targetOf`. */
    async pushAsOperator(sourceName: string, to: string, parts: ReplacedParts) {
      await requirePushable((await requireNamed(database.reader, sourceName)).id);
      return backups.copyAsOperator(sourceName, { into: to, parts, checkpoint: true });
    },
  };

  /** A new staging install for an install. Throws Conflict. */
  async function stagingOf(
    source: Pick<InstallView, 'id' | 'account_id' | 'site_id' | 'php_version' | 'status'>,
    name: string,
  ): Promise<NewInstall> {
    if (source.site_id === null) {
      throw new Conflict('The install is in no site. Move it into one first.');
    }
    if (source.status !== 'active') {
      throw new Conflict(`The install is ${source.status}; only an active one can be copied.`);
    }
    const { id, account_id, site_id, php_version } = source;
    return {
      ...{ name, account_id, site_id },
      environment: 'staging',
      php_version: await offered(php_version),
      // A backup of one kind of website cannot be restored into the other.
      runtime: (await findWebsite(database.reader, { id }))?.runtime ?? null,
    };
  }

  /** Requests the copy of a locked install into its new staging install. Returns the operation's id. */
  async function fill(
    transaction: Transaction,
    actor: Actor,
    source: { id: string; name: string; account_id: string },
    target: InstallRef,
  ): Promise<string> {
    await awaitCopy(transaction.queries, target.id);
    // The new install has nothing to go back to.
    const wanted = { keepBackup: false, checkpoint: false, parts: EVERYTHING, notify: [] };
    return backups.enqueueCopy(transaction, actor, source, target, wanted);
  }

  /** Throws Conflict. */
  async function requirePushable(installId: string): Promise<void> {
    // A new staging install has another content until its copy has ended.
    if (await isBeingReplaced(database.reader, installId)) {
      throw new Conflict('The install is being replaced itself. Push it when that has finished.');
    }
    if (await isCopyAwaited(database.reader, installId)) {
      throw new Conflict(
        'The copy into this install did not succeed, so it has a new website only. Copy, restore or import a website into it first.',
      );
    }
  }

  /** The PHP version, if a host offers it. An upgrade of the machines may have removed it. */
  async function offered(version: string | null): Promise<string | null> {
    if (config.host === 'embedded') return null;
    const { phpVersions } = await loadInstallOptions(database.reader);
    return version !== null && phpVersions.includes(version) ? version : null;
  }

  async function productionOf({ id, site_id }: Pick<InstallView, 'id' | 'site_id'>): Promise<string> {
    const found = site_id === null ? undefined : await findProductionOf(database.reader, site_id);
    if (found === undefined || found === id) throw noProduction();
    return found;
  }
}

const noProduction = () =>
  new Conflict('The site has no other install in its production environment. Name the install to replace.');
