import type { Queries } from '../../../database/database.ts';
import { invalidValue } from '../../../lib/failures.ts';
import { setTags, type TaggedSite, tagsOfAccount } from './store.ts';
import { isTooMany, keyOf, MOST_TAGS_OF_ACCOUNT, MOST_TAGS_OF_SITE, readTags } from './tag-keys.ts';

/** The spelling of each tag of an account, by its key. */
async function spellingsOf(
  queries: Queries,
  accountId: string,
  except?: string,
): Promise<Map<string, string>> {
  const spellings = new Map<string, string>();
  for (const tag of await tagsOfAccount(queries, accountId, except)) {
    if (!spellings.has(keyOf(tag))) spellings.set(keyOf(tag), tag);
  }
  return spellings;
}

/**
 * The tags that a site gets, in the spelling of the account's other sites. Throws InvalidRequest if the account would
 * have too many different tags.
 */
export async function wantedTags(
  queries: Queries,
  accountId: string,
  texts: readonly string[],
  siteId?: string,
): Promise<string[]> {
  if (texts.length === 0) return [];
  const spellings = await spellingsOf(queries, accountId, siteId);
  const tags = readTags(texts, spellings);
  requireRoom(spellings, tags);
  return tags;
}

function requireRoom(known: ReadonlyMap<string, string>, tags: readonly string[]): void {
  const added = tags.filter((tag) => !known.has(keyOf(tag))).length;
  if (added > 0 && known.size + added > MOST_TAGS_OF_ACCOUNT) {
    throw invalidValue(
      'Site',
      'tags',
      'too_many',
      `An account has at most ${MOST_TAGS_OF_ACCOUNT} different tags. Use one of them, or remove one first`,
    );
  }
}

/** What happens to the tags of sites: some are removed, then some are added. */
export interface TagChange {
  add: readonly string[];
  remove: readonly string[];
}

interface Change extends TagChange {
  /** The removed tags leave all sites of the account, so that neither their number nor their spelling counts. */
  isEverywhere?: boolean;
}

/** A site whose tags changed. */
export interface RetaggedSite extends TaggedSite {
  formerTags: string[];
}

/** Changes the tags of sites that the transaction holds. Returns those that changed. Throws InvalidRequest. */
export async function changeTags(
  queries: Queries,
  accountId: string,
  sites: readonly TaggedSite[],
  { add, remove, isEverywhere = false }: Change,
): Promise<RetaggedSite[]> {
  const spellings = await spellingsOf(queries, accountId);
  const removed = new Set(remove.map(keyOf));
  if (isEverywhere) for (const key of removed) spellings.delete(key);
  const added = readTags(add, spellings);
  requireRoom(spellings, added);
  const wanted = sites.map((site) => ({
    site,
    texts: [...site.tags.filter((tag) => !removed.has(keyOf(tag))), ...added],
  }));
  requireRoomAt(wanted.filter(({ texts }) => isTooMany(texts)).map(({ site }) => site.name));
  const spellingsOfAdded = new Map(added.map((tag) => [keyOf(tag), tag]));
  const changed: RetaggedSite[] = [];
  for (const { site, texts } of wanted) {
    const tags = readTags(texts, spellingsOfAdded);
    if (tags.join() === site.tags.join()) continue;
    await setTags(queries, site.id, tags);
    changed.push({ ...site, tags, formerTags: site.tags });
  }
  return changed;
}

/** Sites that a refusal names. It counts the others. */
const NAMED_SITES = 3;

/** Throws InvalidRequest if these sites would have too many tags. */
function requireRoomAt(full: readonly string[]): void {
  if (full.length === 0) return;
  const others = full.length - NAMED_SITES;
  const named = [
    ...full.slice(0, NAMED_SITES),
    ...(others > 0 ? [others === 1 ? '1 other site' : `${others} other sites`] : []),
  ];
  throw invalidValue(
    'Site',
    'tags',
    'too_many',
    `${new Intl.ListFormat('en').format(named)} would have more than ${MOST_TAGS_OF_SITE} tags. Remove some of ${full.length === 1 ? 'its' : 'their'} tags first`,
  );
}
