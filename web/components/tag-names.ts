/** The server's limits for tags. */
export const LONGEST_TAG = 40;
export const MOST_TAGS_OF_SITE = 20;

/** What identifies a tag, as on the server. */
export const keyOf = (tag: string): string =>
  tag.normalize('NFKC').replace(/\s+/gu, ' ').trim().toLowerCase();

/** Parses the tags in the query string, separated by commas. Empty for none. */
export function tagsIn(asked: string): string {
  const tags = new Map(asked.split(',').map((tag) => [keyOf(tag), tag.trim()]));
  tags.delete('');
  return [...tags.values()].slice(0, MOST_TAGS_OF_SITE).join(',');
}
