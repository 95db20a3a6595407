import { firstLinkedPage } from './referenced-files.ts';
import type { AskedPage, Visited } from './visited-page.ts';
import { CORE_STYLESHEET, HOME_PAGE, LOGIN_FORM } from './visitor-probe.ts';
import type { WebsiteState } from './website-state.ts';

export const NEWEST_POST = 'the newest post';
export const NEWEST_PAGE = 'the newest page';
/** Name of a page that the home page links to. */
export const menuPage = (path: string): string => `the page ${path}`;

/** The lists of posts and plugins, and the editor, which loads the REST API, show faults that the dashboard hides. */
export const ADMINISTRATOR_PAGES: readonly AskedPage[] = [
  { name: 'the dashboard', path: '/wp-admin/', kind: 'administrator' },
  { name: 'the list of posts', path: '/wp-admin/edit.php', kind: 'administrator' },
  { name: 'the editor', path: '/wp-admin/post-new.php', kind: 'administrator' },
  { name: 'the list of plugins', path: '/wp-admin/plugins.php', kind: 'administrator' },
];

const MOST_PAGES = 20;

/**
 * The pages and files besides the home page. WordPress redirects the addresses with ids to its own, whatever form those have. `paths`:
 * of the customer.
 */
export function pagesOf(
  state: WebsiteState | null,
  home: Visited | null,
  names: readonly string[],
  paths: readonly string[],
): AskedPage[] {
  const linked = home?.url ? firstLinkedPage(home.body, home.url, names) : null;
  const page = (name: string, path: string): AskedPage => ({ name, path, kind: 'visitor' });
  const file = (name: string, path: string): AskedPage => ({ name, path: encodeURI(path), kind: 'file' });
  const all: AskedPage[] = [
    LOGIN_FORM,
    CORE_STYLESHEET,
    ...(state === null ? [] : pagesOfState(state, page, file)),
    ...(linked === null ? [] : [page(menuPage(linked), linked)]),
    ...paths.map((path) => page(path, path)),
  ];
  return all
    .filter(({ path }, at) => path !== HOME_PAGE.path && all.findIndex((other) => other.path === path) === at)
    .slice(0, MOST_PAGES);
}

type Asked = (name: string, path: string) => AskedPage;

function pagesOfState(
  { post, page, upload, stylesheet, hasPermalinks }: WebsiteState,
  asked: Asked,
  file: Asked,
): AskedPage[] {
  return [
    ...(post === null ? [] : [asked(NEWEST_POST, `/?p=${post}`)]),
    ...(page === null ? [] : [asked(NEWEST_PAGE, `/?page_id=${page}`)]),
    { name: 'the REST API', path: hasPermalinks ? '/wp-json/' : '/?rest_route=/', kind: 'api' },
    file('the stylesheet of the theme', `/wp-content/themes/${stylesheet}/style.css`),
    ...(upload === null ? [] : [file('the newest upload', `/wp-content/uploads/${upload}`)]),
  ];
}
