import { posix } from 'node:path';

/** A link in Markdown: its target without the anchor, and the anchor with `#` or ''. */
export interface Link {
  target: string;
  anchor: string;
}

/** Fenced blocks and code in a line. Nothing in them is a link. */
const CODE = /^(?:```|~~~)[\s\S]*?^(?:```|~~~)[^\n]*$|`[^`\n]*`/gm;
const LINK = /(!?\[[^\]]*\]\()([^()\s]+)(\))/g;

/**
 * Replaces the targets of the links to files and headings of the repository. Addresses of the Internet stay.
 * @param replacement gets the link and whether it is a picture, and returns what stands between the parentheses and after them
 */
export function replaceLinks(
  markdown: string,
  replacement: (link: Link, isPicture: boolean) => { target: string; after?: string },
): string {
  return outsideCode(markdown, (text) =>
    text.replace(LINK, (whole, before: string, address: string, after: string) => {
      if (/^[a-z]+:/.test(address)) return whole;
      const [target = '', heading] = address.split('#');
      const link = { target, anchor: heading === undefined ? '' : `#${heading}` };
      const replaced = replacement(link, before.startsWith('!'));
      return `${before}${replaced.target}${after}${replaced.after ?? ''}`;
    }),
  );
}

/** The anchors of the headings of a page, as GitHub makes them: `#` is not in them, and repeated ones get a number. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  const text = markdown.replace(/^(?:```|~~~)[\s\S]*?^(?:```|~~~)[^\n]*$/gm, '');
  for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.+)$/gm)) {
    const slug = slugOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, ''));
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** The anchor that GitHub gives a heading. The site has the same ones, so that a link works in both. */
export const slugOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** The path of a link's target from the root of the repository. The page itself for a link to one of its headings. */
export const targetPath = (source: string, target: string): string =>
  target === '' ? source : posix.join(posix.dirname(source), decodeURIComponent(target)).replace(/\/$/, '');

function outsideCode(markdown: string, change: (text: string) => string): string {
  let end = 0;
  let changed = '';
  for (const code of markdown.matchAll(CODE)) {
    changed += change(markdown.slice(end, code.index)) + code[0];
    end = code.index + code[0].length;
  }
  return changed + change(markdown.slice(end));
}
