import { isOwnAddress } from '../../wordpress/wordpress-answers.ts';

const SCRIPT = /<script\b[^>]*?\ssrc\s*=\s*["']([^"']+)["']/gi;
const LINK = /<link\b[^>]*>/gi;
const ANCHOR = /<a\b[^>]*?\shref\s*=\s*["']([^"'#?]+)["']/gi;
/** Files of WordPress itself are the same for all websites, and one of them is asked in any case. */
const CUSTOMERS = /^\/wp-content\/.*\.(?:css|m?js)$/;
/** Links that do something, or lead to no page. */
const NO_PAGE = /\.\w+$|^\/wp-|\/(?:feed|logout|cart|checkout|delete)\b|logout/i;

/** The paths of scripts and stylesheets of plugins and themes that a page loads from its own host name, with their queries. */
export function referencedFiles(body: string, page: URL): string[] {
  const links = [...body.matchAll(LINK)].flatMap(([link]) =>
    /\brel\s*=\s*["']?[^"'>]*stylesheet/i.test(link)
      ? [/\shref\s*=\s*["']([^"']+)["']/i.exec(link)?.[1] ?? '']
      : [],
  );
  const scripts = [...body.matchAll(SCRIPT)].map(([, source = '']) => source);
  const own = [...links, ...scripts].flatMap((address) => {
    const url = URL.parse(address.replace(/&#0?38;|&amp;/g, '&'), page.href);
    if (url?.host !== page.host) return [];
    return CUSTOMERS.test(url.pathname) ? [`${url.pathname}${url.search}`] : [];
  });
  return [...new Set(own)];
}

/** The path of the first other page that a page links to, such as in its menu; null without one. */
export function firstLinkedPage(body: string, page: URL, names: readonly string[]): string | null {
  for (const [, address = ''] of body.matchAll(ANCHOR)) {
    const url = URL.parse(address, page.href);
    if (url === null || !isOwnAddress(url, names) || url.pathname === page.pathname) continue;
    if (url.pathname !== '/' && !NO_PAGE.test(url.pathname)) return url.pathname;
  }
  return null;
}
