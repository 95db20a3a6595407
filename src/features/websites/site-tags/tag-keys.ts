import { invalidValue } from '../../../lib/failures.ts';
import { INVISIBLE } from '../../../lib/invisible-characters.ts';
import { ONE_LINE } from '../../../lib/one-line.ts';

export const MOST_TAGS_OF_SITE = 20;
/** Different tags of an account. Lists and menus show all of them. */
export const MOST_TAGS_OF_ACCOUNT = 500;
export const LONGEST_TAG = 40;

const IS_ONE_LINE = new RegExp(ONE_LINE, 'u');
/** Joiners and variation selectors form emoji and the letters of some scripts. Other invisible characters only deceive. */
const JOINERS = /\u200c|\u200d|[\ufe00-\ufe0f]/gu;
const ALL_INVISIBLE = new RegExp(`[${INVISIBLE}]`, 'gu');

/** What identifies a tag: two spellings with the same key are one tag. */
export const keyOf = (tag: string): string =>
  tag.normalize('NFKC').replace(ALL_INVISIBLE, '').replace(/\s+/gu, ' ').trim().toLowerCase();

/** A tag as it is stored: normalised, without spaces around it, with single spaces within. Throws InvalidRequest. */
export function readTag(text: string, resource = 'Site', field = 'tags'): string {
  const refuse = (code: string, message: string) => invalidValue(resource, field, code, message);
  const tag = text.normalize('NFC').trim().replace(/ +/g, ' ');
  if (tag === '') throw refuse('required', 'A tag cannot be empty');
  const isVisible = IS_ONE_LINE.test(tag) && tag.replace(JOINERS, '').search(ALL_INVISIBLE) === -1;
  if (!isVisible || !tag.isWellFormed() || keyOf(tag) === '') {
    throw refuse('invalid_format', 'A tag must be one line of text without control or invisible characters');
  }
  if (tag.includes(',')) throw refuse('invalid_format', 'A tag cannot contain a comma; send tags one by one');
  if ([...tag].length > LONGEST_TAG) throw refuse('too_long', `A tag has at most ${LONGEST_TAG} characters`);
  return tag;
}

/** Whether these are more tags than a site can have. */
export const isTooMany = (tags: readonly string[]): boolean =>
  new Set(tags.map(keyOf)).size > MOST_TAGS_OF_SITE;

/**
 * The tags of one site, in the order of their keys and each once, in the spelling that `spellings` (by key) has for them.
 * Throws InvalidRequest.
 */
export function readTags(texts: readonly string[], spellings: ReadonlyMap<string, string>): string[] {
  const byKey = new Map<string, string>();
  for (const tag of texts.map((text) => readTag(text))) {
    const key = keyOf(tag);
    if (!byKey.has(key)) byKey.set(key, spellings.get(key) ?? tag);
  }
  if (isTooMany(texts)) {
    throw invalidValue('Site', 'tags', 'too_many', `A site has at most ${MOST_TAGS_OF_SITE} tags`);
  }
  return [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, tag]) => tag);
}

/** The stored keys of tags. No key contains a line break. */
export const joinedKeys = (tags: readonly string[]): string =>
  tags.length === 0 ? '' : `\n${tags.map(keyOf).join('\n')}\n`;

/** The tags of a stored site. */
export const tagsIn = (stored: unknown): string[] =>
  Array.isArray(stored) ? stored.filter((tag) => typeof tag === 'string') : [];
