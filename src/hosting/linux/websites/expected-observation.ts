import type { ItemChange } from '../../contract/wordpress-changes.ts';
import { LOGIN_FORM, type Observation } from './observation.ts';

/** The parts of a page that belong to no theme and no plugin. */
const LASTING_PARTS = ['</body>', '</html>', 'id="loginform"', 'name="pwd"'];

/**
 * How a website should look after a change of a plugin or theme. Another theme or plugin may change the length and the structure of
 * pages, so only their statuses, errors and ends count. `changed`: the item, and the theme of the website afterwards.
 */
export function expectedAfter(
  before: Observation,
  { kind, status }: Pick<ItemChange, 'kind' | 'status'>,
  { id, theme }: { id: string; theme: { stylesheet: string; template: string } },
): Observation {
  const pages = before.pages.map((page) => ({
    ...page,
    length: 0,
    parts: page.parts.filter((part) => LASTING_PARTS.includes(part)),
  }));
  if (before.settings === null) return { ...before, pages };
  const { plugins } = before.settings;
  const others = plugins.filter((plugin) => plugin !== id);
  const settings = {
    ...before.settings,
    ...(kind === 'theme' ? theme : {}),
    ...(kind === 'plugin' ? { plugins: status === 'active' ? [...others, id] : others } : {}),
  };
  return { ...before, pages, settings };
}

/**
 * Whether a page may look different after a change: any page if the user keeps the change, and the login form after an activation.
 * Plugins move the form to a secret address, and users can sign in with a link of Homeport.
 */
export function mayDiffer(
  { status, keep = false }: Pick<ItemChange, 'status' | 'keep'>,
  path: string,
): boolean {
  return keep || (status === 'active' && path === LOGIN_FORM);
}
