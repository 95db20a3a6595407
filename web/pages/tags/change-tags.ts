import { type HostingPaths, hosting } from '../../api/client.ts';
import { ApiFailure, errorMessage, FormError, unwrap } from '../../api/failure.ts';
import { loadMatchingSites } from '../../api/site-list.ts';
import type { TagReversal } from './tag-reversals.ts';

type Change =
  HostingPaths['/accounts/{account_id}/tags/change']['post']['requestBody']['content']['application/json'];

/** Adds and removes tags of sites: on all of them or on none. Returns those that changed. */
export async function changeTags(accountId: string, body: Change) {
  const { changed } = await unwrap(
    hosting.POST('/accounts/{account_id}/tags/change', {
      params: { path: { account_id: accountId } },
      body,
    }),
  );
  return changed;
}

/** Takes back changes of tags, and returns the sentence that says so. Sites that left the account are skipped. */
export async function changeTagsBack(accountId: string, reversals: readonly TagReversal[]): Promise<string> {
  const total = reversals.reduce((sum, { site_ids }) => sum + site_ids.length, 0);
  let restored = 0;
  try {
    for (const reversal of reversals) restored += await changePresent(accountId, reversal);
  } catch (error) {
    throw restored === 0 ? error : new FormError(`${restoredSentence(restored)} ${errorMessage(error)}`);
  }
  const gone = total - restored;
  if (gone === 0) return restoredSentence(restored);
  const goneSentence =
    gone === 1 ? '1 site is no longer in this account.' : `${gone} sites are no longer in this account.`;
  if (restored === 0) throw new FormError(goneSentence);
  return `${restoredSentence(restored)} ${goneSentence}`;
}

/** Changes those of the sites that the account still has. Returns their number. */
async function changePresent(accountId: string, reversal: TagReversal): Promise<number> {
  try {
    await changeTags(accountId, reversal);
    return reversal.site_ids.length;
  } catch (error) {
    if (!isSiteMissing(error)) throw error;
  }
  const present = new Set((await loadMatchingSites(accountId, { search: '', tags: '' })).map(({ id }) => id));
  const site_ids = reversal.site_ids.filter((id) => present.has(id));
  if (site_ids.length > 0) await changeTags(accountId, { ...reversal, site_ids });
  return site_ids.length;
}

const isSiteMissing = (error: unknown) =>
  error instanceof ApiFailure && error.fieldErrors.some(({ field }) => field === 'site_ids');

const restoredSentence = (count: number) =>
  count === 1 ? '1 site has its former tags again.' : `${count} sites have their former tags again.`;
