import { slicesOf } from '../../api/slices.ts';
import { keyOf } from '../../components/tag-names.ts';

/** A site whose tags changed. */
export interface RetaggedSite {
  site_id: string;
  tags: readonly string[];
  former_tags: readonly string[];
}

/** Sites that the server tags in one request. */
export const MOST_A_REQUEST = 500;

export interface TagReversal {
  add: string[];
  remove: string[];
  site_ids: string[];
}

/**
 * Returns the changes that take back others, one for all sites that gained and lost the same tags. Tags that someone else adds
 * meanwhile stay.
 */
export function tagReversals(changed: readonly RetaggedSite[]): TagReversal[] {
  const alike = new Map<string, TagReversal>();
  for (const { site_id, tags, former_tags } of changed) {
    const add = withoutKeys(former_tags, tags);
    const remove = withoutKeys(tags, former_tags);
    if (add.length + remove.length === 0) continue;
    const key = JSON.stringify([add, remove]);
    const known = alike.get(key) ?? { add, remove, site_ids: [] };
    alike.set(key, { ...known, site_ids: [...known.site_ids, site_id] });
  }
  return [...alike.values()].flatMap((reversal) =>
    slicesOf(reversal.site_ids, MOST_A_REQUEST).map((site_ids) => ({ ...reversal, site_ids })),
  );
}

/** Returns the tags that are not among the others. */
export function withoutKeys(tags: readonly string[], others: readonly string[]): string[] {
  const keys = new Set(others.map(keyOf));
  return tags.filter((tag) => !keys.has(keyOf(tag)));
}
