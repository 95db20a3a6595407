/** The longest path of a page that can be purged, in characters. */
export const LONGEST_PAGE_PATH = 2_048;
/** Paths of one purge. */
export const MOST_PAGE_PATHS = 1_000;

/** No query, fragment or control character, and not `//host`. */
export const PAGE_PATH = '^/(?!/)[^?#\\u0000-\\u001f\\u007f]*$';

const SHAPE = new RegExp(PAGE_PATH);
const DOT_SEGMENT = /\/\.\.?(?:\/|$)/;

/** Whether the text is the path of a page: absolute, without host, query and dot segments. */
export function isPagePath(text: string): boolean {
  return text.length <= LONGEST_PAGE_PATH && SHAPE.test(text) && !DOT_SEGMENT.test(text);
}
