import type { Static } from 'typebox';
import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { findMembership, loadScope } from '../../../access/memberships.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockTags } from '../../../database/lock.ts';
import { invalidValue, notPermitted } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { changeTags, type RetaggedSite, type TagChange } from '../site-tags/change-tags.ts';
import { holdSites, holdSitesWithTag, sitesOfInstalls, type TaggedSite } from '../site-tags/store.ts';
import { keyOf, readTag } from '../site-tags/tag-keys.ts';
import type { accountTagSchema } from './schema.ts';
import { tagsInScope } from './store.ts';

export type AccountTag = Static<typeof accountTagSchema>;
export type TagService = ReturnType<typeof createTagService>;

/** The sites and installs whose tags change. */
export interface TagTargets {
  site_ids: readonly string[];
  install_ids: readonly string[];
}

/** Tags of an account: those that its sites have. */
export function createTagService({ database, activity }: Pick<Platform, 'database' | 'activity'>) {
  async function authorizeChange({ queries }: Transaction, caller: Caller, accountId: string): Promise<void> {
    const member = await findMembership(queries, caller, accountId);
    authorize('site.change', 'account.read', member && { ...member, own: true });
  }

  async function list(caller: Caller, accountId: string): Promise<AccountTag[]> {
    return database.snapshot(async (reader) => {
      const member = await findMembership(reader, caller, accountId);
      authorize('site.read', 'account.read', member && { ...member, own: true });
      const tags = await tagsInScope(reader, await loadScope(reader, caller, accountId));
      const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
      return tags.sort((one, other) => collator.compare(one.name, other.name));
    });
  }

  /** Changes the tags of these sites of an account. Throws InvalidRequest for sites that are not the account's. */
  async function changeSites(
    transaction: Transaction,
    actor: Actor,
    accountId: string,
    siteIds: readonly string[],
    change: TagChange,
  ): Promise<RetaggedSite[]> {
    const wanted = [...new Set(siteIds)];
    await lockTags(transaction);
    const sites = await holdSites(transaction, accountId, wanted);
    if (sites.length < wanted.length) {
      throw notPermitted('Tag', 'site_ids', 'One of these sites does not exist in this account');
    }
    const changed = await changeTags(transaction.queries, accountId, sites, change);
    for (const { id, name, tags } of changed) {
      await activity.record(transaction, actor, accountId, {
        action: 'site.update',
        subject: { id, name },
        details: { tags: tags.join(', ') },
      });
    }
    return changed;
  }

  /** Takes a tag from all sites of an account, and gives them another one. Returns their IDs. Throws NotFound, Forbidden, InvalidRequest. */
  const replaceTag = (caller: Caller, accountId: string, name: string, replacement: string | null) =>
    changeFor(database, caller, async (transaction) => {
      await authorizeChange(transaction, caller, accountId);
      await lockTags(transaction);
      const key = keyOf(name);
      const isTag = key !== '' && !key.includes(',');
      const sites = isTag ? await holdSitesWithTag(transaction, accountId, key) : [];
      if (sites.length === 0 && replacement !== null) {
        throw invalidValue('Tag', 'name', 'unknown', 'No site of this account has this tag');
      }
      const changed = await changeTags(transaction.queries, accountId, sites, {
        ...{ add: replacement === null ? [] : [replacement], remove: [name] },
        isEverywhere: true,
      });
      if (changed.length === 0) return [];
      await activity.record(transaction, caller, accountId, {
        action: replacement === null ? 'tag.remove' : 'tag.rename',
        subject: { id: null, name: spelled(sites, name) },
        details: {
          ...(replacement === null ? {} : { to: spelled(changed, replacement) }),
          sites: changed.length,
        },
      });
      return changed.map(({ id }) => id);
    });

  return {
    /** Every tag of the sites that the caller may see. Throws NotFound. */
    list,

    /** Renames a tag in all sites of an account. An existing tag of the new name takes its sites. Throws NotFound, Forbidden, InvalidRequest. */
    async rename(caller: Caller, accountId: string, name: string, newName: string): Promise<AccountTag> {
      const wanted = readTag(newName, 'Tag', 'new_name');
      await replaceTag(caller, accountId, name, wanted);
      const tags = await list(caller, accountId);
      return (
        tags.find((tag) => keyOf(tag.name) === keyOf(wanted)) ?? {
          name: wanted,
          site_count: 0,
          install_count: 0,
        }
      );
    },

    /** Removes a tag from all sites of an account. Returns their IDs. Throws NotFound, Forbidden. */
    remove: (caller: Caller, accountId: string, name: string): Promise<string[]> =>
      replaceTag(caller, accountId, name, null),

    /** Adds and removes tags of many sites, or of the sites of many installs: all of them or none. Throws NotFound, Forbidden, InvalidRequest. */
    change: (
      caller: Caller,
      accountId: string,
      { site_ids, install_ids }: TagTargets,
      change: TagChange,
    ): Promise<{ changed: RetaggedSite[]; withoutSite: string[] }> =>
      changeFor(database, caller, async (transaction) => {
        await authorizeChange(transaction, caller, accountId);
        if (change.add.length + change.remove.length === 0) {
          throw invalidValue('Tag', 'add', 'required', 'Name at least one tag to add or to remove');
        }
        const wanted = [...new Set(install_ids.map((id) => id.toLowerCase()))];
        const places = await sitesOfInstalls(transaction.queries, accountId, wanted);
        if (places.size < wanted.length) {
          throw notPermitted('Tag', 'install_ids', 'One of these installs does not exist in this account');
        }
        const sites = [...site_ids.map((id) => id.toLowerCase()), ...places.values()].filter(
          (id) => id !== null,
        );
        return {
          changed: await changeSites(transaction, caller, accountId, sites, change),
          withoutSite: wanted.filter((id) => places.get(id) === null),
        };
      }),

    /** For the command line: changes the tags of one site, and returns those it has afterwards. */
    changeByOperator: (accountId: string, siteId: string, change: TagChange): Promise<string[]> =>
      database.write(async (transaction) => {
        await changeSites(transaction, OPERATOR, accountId, [siteId], change);
        return (await holdSites(transaction, accountId, [siteId])).flatMap(({ tags }) => tags);
      }),
  };
}

/** A tag as these sites have it. */
const spelled = (sites: readonly TaggedSite[], tag: string): string =>
  sites.flatMap(({ tags }) => tags).find((one) => keyOf(one) === keyOf(tag)) ?? tag;
