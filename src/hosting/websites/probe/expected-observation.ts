import type { ItemChange } from '../../contract/wordpress-changes.ts';
import type { Observation } from './observation.ts';
import { menuPage } from './probed-pages.ts';

/** The parts of a page that belong to no theme and no plugin. */
const LASTING_PARTS = ['</body>', '</html>', 'id="loginform"', 'name="pwd"'];
const SIGNING_IN = /^\/(?:wp-login\.php$|wp-admin\/|wp-json\/$|\?rest_route=\/$)/;

/**
 * How a website should look after a change of a plugin or theme. Another theme or plugin may change the length and the structure of
 * pages, so only their statuses, errors and ends count. `changed`: the item, and the theme of the website afterwards.
 */
export function expectedAfter(
  before: Observation,
  { kind, status }: Pick<ItemChange, 'kind' | 'status'>,
  { id, theme }: { id: string; theme: { stylesheet: string; template: string } },
): Observation {
  // A page of a plugin in the menu goes with the plugin.
  const lasting = before.pages.filter(({ name, path }) => status === 'active' || name !== menuPage(path));
  const pages = lasting.map((page) => ({
    ...page,
    length: 0,
    parts: page.parts.filter((part) => LASTING_PARTS.includes(part)),
  }));
  if (before.state === null) return { ...before, pages };
  const { plugins } = before.state;
  const others = plugins.filter((plugin) => plugin !== id);
  const state = {
    ...before.state,
    ...(kind === 'theme' ? theme : {}),
    ...(kind === 'plugin' ? { plugins: status === 'active' ? [...others, id] : others } : {}),
  };
  return { ...before, pages, state };
}

/**
 * Whether a page or rows may look different after a change: anything if the user keeps the change, and after an activation what strangers
 * and administrators sign in with. Plugins move the form to a secret address, ask for a second factor, or close the REST API, and users
 * can sign in with a link of Homeport.
 */
export function mayDiffer(
  { status, keep = false }: Pick<ItemChange, 'status' | 'keep'>,
  what: string,
): boolean {
  return keep || (status === 'active' && SIGNING_IN.test(what));
}
