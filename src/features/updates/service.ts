import { type Caller, OPERATOR } from '../../access/caller.ts';
import { findMembership, loadScope } from '../../access/memberships.ts';
import { authorize } from '../../access/permissions.ts';
import { changeFor } from '../../access/request-transactions.ts';
import type { Transaction } from '../../database/database.ts';
import type { WantedItems, WantedUpdates } from '../../hosting/contract/wordpress-updates.ts';
import { compareVersions } from '../../hosting/policy/wordpress-version.ts';
import {
  Conflict,
  Failure,
  InvalidRequest,
  invalidValue,
  NotFound,
  RateLimited,
} from '../../lib/failures.ts';
import type { PageOf, PageRequest } from '../../lib/page.ts';
import type { Actor } from '../../platform/activity-log.ts';
import type { Platform } from '../../platform/platform.ts';
import type { CapabilityReader } from '../hosts/capabilities.ts';
import type { HeldWordPress } from '../hosts/held-wordpress.ts';
import { lockNamed, lockWorkable, type Website } from '../websites/installs/requested-website.ts';
import { findInstallAccess } from '../websites/installs/store.ts';
import { keyOf } from '../websites/site-tags/tag-keys.ts';
import { enqueueUpdate } from './request.ts';
import { countOpen, findUpdate, pageOfUpdates, type StoredUpdate } from './store.ts';
import { activeInstallsInScope } from './updatable-store.ts';

/** The resource that faults of a request name. */
export const WORDPRESS_UPDATE = 'WordPressUpdate';

/** Updates that a user asks for. At least one field. */
export interface RequestedUpdates {
  /** True: the newest version of the install's host. */
  core?: boolean | string | undefined;
  plugins?: WantedItems | undefined;
  themes?: WantedItems | undefined;
  /** Whether updates stay after which pages only look different. */
  keep?: boolean | undefined;
}

/** The outcome of a request for many installs. */
export interface RequestedForMany {
  requested: { install_id: string; operation_id: string }[];
  refused: { install_id: string; message: string }[];
}

/** An update of an install, as users see it. */
export type SeenUpdate = StoredUpdate;

/** Updates of one install that wait or run. */
const MOST_OPEN = 20;
const LOOK_AGAIN_SECONDS = 60;

export type UpdateService = ReturnType<typeof createUpdateService>;

export function createUpdateService(
  platform: Platform,
  capabilities: Pick<CapabilityReader, 'require'>,
  heldWordPress: HeldWordPress,
) {
  const { database, activity } = platform;

  /** The version of WordPress to switch to; null if it stays. Throws InvalidRequest. */
  async function coreOf(
    transaction: Transaction,
    { host_id, wordpress_version: present }: Website,
    core: boolean | string,
  ): Promise<string | null> {
    if (core === false) return null;
    const held = await heldWordPress(transaction.queries, host_id);
    const wanted = core === true ? held[0] : core;
    if (wanted === undefined) return null;
    if (!held.includes(wanted)) {
      throw refusedCore(
        'not_offered',
        `The host of this install has no WordPress ${wanted}; it has ${held.join(', ') || 'none'}`,
      );
    }
    const step = present === null ? 1 : compareVersions(wanted, present);
    if (step < 0 && core !== true) {
      throw refusedCore('older', `WordPress ${wanted} is older than the present version ${present}`);
    }
    return step > 0 ? wanted : null;
  }

  /** Requests the updates of a locked install. Throws InvalidRequest, Conflict, RateLimited. */
  async function enqueue(
    transaction: Transaction,
    doer: Actor,
    website: Website,
    { core = false, plugins = [], themes = [], keep = false }: RequestedUpdates,
  ): Promise<string> {
    const { id, name, status } = website;
    requireAnything({ core, plugins, themes });
    if (status !== 'active') {
      throw new Conflict(`The install is ${status}; only an active one can be updated.`);
    }
    await capabilities.require(transaction.queries, website, 'wordpress_updates');
    if ((await countOpen(transaction.queries, id)) >= MOST_OPEN) {
      throw new RateLimited(LOOK_AGAIN_SECONDS, `${MOST_OPEN} updates of this install wait already`);
    }
    const wanted: WantedUpdates = { core: await coreOf(transaction, website, core), plugins, themes };
    const operationId = await enqueueUpdate(platform, transaction, {
      installId: id,
      wanted,
      cause: 'request',
      keep,
      requestId: doer.origin.requestId,
    });
    await activity.record(transaction, doer, website.account_id, {
      action: 'install.update_wordpress',
      subject: { id, name },
      installId: id,
      details: {
        ...(core === false ? {} : { core: wanted.core ?? 'newest' }),
        ...(plugins.length === 0 ? {} : { plugins: described(plugins) }),
        ...(themes.length === 0 ? {} : { themes: described(themes) }),
        ...(keep ? { keep } : {}),
      },
    });
    return operationId;
  }

  async function request(caller: Caller, installId: string, wanted: RequestedUpdates): Promise<string> {
    return changeFor(database, caller, async (transaction) =>
      enqueue(transaction, caller, await lockWorkable(transaction, caller, installId), wanted),
    );
  }

  return {
    /** Returns the operation's id. Throws NotFound, Forbidden, InvalidRequest, Conflict, RateLimited. */
    request,

    /** Requests a failed update again. Returns the operation's id. Throws as `request`. */
    async repeat(caller: Caller, installId: string, updateId: string, keep = false): Promise<string> {
      authorize('install.work', 'install.read', await findInstallAccess(database.reader, caller, installId));
      const failed = await findUpdate(database.reader, updateId);
      if (failed === undefined) throw new Conflict('The update is no longer known. Request a new one.');
      const { core, plugins, themes } = failed.wanted;
      return request(caller, installId, { core: core ?? false, plugins, themes, keep });
    },

    /**
     * Requests the same updates for many installs of an account, one operation for each: those with these ids, or all that the caller may work
     * on; with `tags`, those whose site has all of them. Throws NotFound for an unknown account.
     */
    async requestMany(
      caller: Caller,
      accountId: string,
      {
        installIds,
        tags,
        ...wanted
      }: RequestedUpdates & {
        installIds?: readonly string[] | undefined;
        tags?: readonly string[] | undefined;
      },
    ): Promise<RequestedForMany> {
      authorize('account.read', 'account.read', {
        role: (await findMembership(database.reader, caller, accountId))?.role ?? null,
        own: false,
      });
      requireAnything(wanted);
      const scope = await loadScope(database.reader, caller, accountId);
      const seen = await activeInstallsInScope(database.reader, scope);
      const asked = installIds === undefined ? seen : [...new Set(installIds.map((id) => id.toLowerCase()))];
      const tagged =
        tags && new Set(await activeInstallsInScope(database.reader, scope, tags.map(keyOf).join(',')));
      const chosen = asked.filter((id) => !tagged || tagged.has(id) || !seen.includes(id));
      const outcome: RequestedForMany = { requested: [], refused: [] };
      for (const install_id of chosen) {
        try {
          if (!seen.includes(install_id)) throw new NotFound();
          outcome.requested.push({
            install_id,
            operation_id: await request(caller, install_id, wanted),
          });
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          outcome.refused.push({ install_id, message: error.message });
        }
      }
      return outcome;
    },

    /** The updates of an install, newest first. Throws NotFound. */
    async page(caller: Caller, installId: string, page: PageRequest): Promise<PageOf<StoredUpdate>> {
      authorize('install.read', 'install.read', await findInstallAccess(database.reader, caller, installId));
      return pageOfUpdates(database.reader, installId, page);
    },

    /** The newest update of an install, for the command line. */
    latest: async (installId: string): Promise<StoredUpdate | undefined> =>
      (await pageOfUpdates(database.reader, installId, { limit: 1, offset: 0 })).results[0],

    /** For the command line: by name. Throws InvalidRequest, Conflict. */
    byName: (name: string, wanted: RequestedUpdates): Promise<{ jobId: string; installId: string }> =>
      database.write(async (transaction) => {
        const website = await lockNamed(transaction, name);
        return { jobId: await enqueue(transaction, OPERATOR, website, wanted), installId: website.id };
      }),
  };
}

function requireAnything({ core = false, plugins = [], themes = [] }: RequestedUpdates): void {
  if (core !== false || plugins.length > 0 || themes.length > 0) return;
  throw new InvalidRequest('Name what to update: core, plugins or themes.');
}

const described = (items: WantedItems) => (items === 'all' ? 'all' : items.join(', ').slice(0, 500));

function refusedCore(code: string, message: string): InvalidRequest {
  return invalidValue(WORDPRESS_UPDATE, 'core', code, message);
}
