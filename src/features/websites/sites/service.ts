import type { Caller } from '../../../access/caller.ts';
import { findMembership, loadScope } from '../../../access/memberships.ts';
import { authorize, isAllowed } from '../../../access/permissions.ts';
import { changeFor, readFor } from '../../../access/request-transactions.ts';
import { lockHostNames, lockRow, lockTags } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { Forbidden, notPermitted } from '../../../lib/failures.ts';
import type { PlacedPage, SortedRequest } from '../../../lib/page.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { DeleteInstalls } from '../installs/deletion.ts';
import { holdInstallsOfSite, installsOfSites, type SiteInstall } from '../installs/store.ts';
import { wantedTags } from '../site-tags/change-tags.ts';
import { cancelTransferOfDeletedSite } from './open-transfer-store.ts';
import {
  addToSiteCount,
  countSites,
  deleteSite,
  findSite,
  insertSite,
  pageOfSites,
  type SiteFilters,
  type SiteRow,
  type SiteSettings,
  type SiteSort,
  updateSite,
} from './store.ts';

/** A site with those of its installs that the caller may see. */
export interface SiteView extends SiteRow {
  installs: SiteInstall[];
}

export type SiteService = ReturnType<typeof createSiteService>;

export function createSiteService(platform: Platform, deleteInstalls: DeleteInstalls) {
  const { database, activity, clock, random } = platform;

  const get = (caller: Caller, id: string): Promise<SiteView> =>
    readFor(database, caller, async (queries) => {
      const site = await findSite(queries, caller, id);
      authorize('site.read', 'site.read', site);
      const scope = await loadScope(queries, caller, site.account_id);
      return { ...site, installs: await installsOfSites(queries, scope, [id]) };
    });

  const list = (
    caller: Caller,
    page: SortedRequest<SiteSort>,
    { account_id, ...filters }: SiteFilters & { account_id?: string },
  ): Promise<PlacedPage<SiteView>> =>
    database.snapshot(async (reader) => {
      const scope = await loadScope(reader, caller, account_id);
      if (scope.whole.length + scope.partial.length === 0) {
        return { count: 0, results: [], previous: null, next: null };
      }
      const count = await countSites(reader, scope, filters);
      const { results, ...places } = await pageOfSites(reader, scope, page, filters, count);
      const installs = await installsOfSites(
        reader,
        scope,
        results.map((site) => site.id),
      );
      const bySite = Map.groupBy(installs, (install) => install.site_id);
      return {
        ...places,
        results: results.map((site) => ({ ...site, installs: bySite.get(site.id) ?? [] })),
      };
    });

  async function create(
    caller: Caller,
    input: Partial<SiteSettings> & { name: string; account_id: string },
  ): Promise<SiteView> {
    const created = {
      id: random.uuid(),
      name: input.name.trim(),
      account_id: input.account_id.toLowerCase(),
      sandbox: input.sandbox ?? false,
      transferable: input.transferable ?? false,
      created_at: timestamp(clock),
    };
    const site = await changeFor(database, caller, async (transaction) => {
      const { queries } = transaction;
      const member = await findMembership(queries, caller, created.account_id);
      if (!member) throw notPermitted('Site', 'account_id', 'You have no access to this account');
      if (!isAllowed('site.change', { role: member.role, own: false })) throw new Forbidden();
      if (input.tags !== undefined) await lockTags(transaction);
      const site = { ...created, tags: await wantedTags(queries, created.account_id, input.tags ?? []) };
      await transaction.commitWith(() => [
        insertSite(queries, site),
        addToSiteCount(queries, site.account_id, 1),
        activity.record(transaction, caller, site.account_id, {
          action: 'site.create',
          subject: { id: site.id, name: site.name },
        }),
      ]);
      return site;
    });
    return { ...site, installs: [] };
  }

  async function update(caller: Caller, id: string, change: Partial<SiteSettings>): Promise<SiteView> {
    await changeFor(database, caller, async (transaction) => {
      const { queries } = transaction;
      if (change.tags !== undefined) await lockTags(transaction);
      await lockRow(transaction, 'sites', id);
      const site = await findSite(queries, caller, id);
      authorize('site.change', 'site.read', site);
      const wanted = {
        name: change.name?.trim() ?? site.name,
        sandbox: change.sandbox ?? site.sandbox,
        transferable: change.transferable ?? site.transferable,
        tags:
          change.tags === undefined ? site.tags : await wantedTags(queries, site.account_id, change.tags, id),
      };
      const details = {
        ...(wanted.name === site.name ? {} : { from: site.name, to: wanted.name }),
        ...(wanted.sandbox === site.sandbox ? {} : { sandbox: wanted.sandbox }),
        ...(wanted.transferable === site.transferable ? {} : { transferable: wanted.transferable }),
        ...(wanted.tags.join() === site.tags.join() ? {} : { tags: wanted.tags.join(', ') }),
      };
      if (Object.keys(details).length === 0) return;
      await transaction.commitWith(() => [
        updateSite(queries, id, wanted),
        activity.record(transaction, caller, site.account_id, {
          action: 'site.update',
          subject: { id, name: wanted.name },
          details,
        }),
      ]);
    });
    return get(caller, id);
  }

  /** Deletes the site and its installs. */
  async function remove(caller: Caller, id: string): Promise<void> {
    await changeFor(database, caller, async (transaction) => {
      const { queries } = transaction;
      await lockHostNames(transaction);
      await lockRow(transaction, 'sites', id);
      const site = await findSite(queries, caller, id);
      authorize('site.change', 'site.read', site);
      await deleteInstalls(transaction, await holdInstallsOfSite(transaction, id), caller);
      await deleteSite(queries, id);
      await cancelTransferOfDeletedSite(queries, id, timestamp(clock));
      await addToSiteCount(queries, site.account_id, -1);
      await activity.record(transaction, caller, site.account_id, {
        action: 'site.delete',
        subject: { id, name: site.name },
      });
    });
  }

  return { get, list, create, update, remove };
}
