import { isPagePath, MOST_PAGE_PATHS } from '../../contract/page-path.ts';

/** The cached pages that a change affects. */
export type Pages = 'everything' | readonly string[];

/** Characters of the longest message. WordPress sends `everything` in place of a longer one. */
export const LONGEST_MESSAGE = 65_536;

/** Parses a message of WordPress: `{"everything":true}` or `{"paths":["/a/"]}`. Null if it is anything else. */
export function parsePurgeMessage(line: string): Pages | null {
  const message = parseObject(line);
  if (message === null || Object.keys(message).length !== 1) return null;
  if (message.everything === true) return 'everything';
  const { paths } = message;
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > MOST_PAGE_PATHS) return null;
  const texts = paths.filter((path) => typeof path === 'string');
  return texts.length === paths.length && texts.every(isPagePath) ? texts : null;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Both together. */
export function mergePages(one: Pages, other: Pages): Pages {
  if (one === 'everything' || other === 'everything') return 'everything';
  const paths = [...new Set([...one, ...other])];
  return paths.length > MOST_PAGE_PATHS ? 'everything' : paths;
}
