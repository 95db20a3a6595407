import type { ItemChange } from '../../contract/wordpress-changes.ts';
import type { Observation } from './website-check.ts';

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
  const isGone = kind === 'plugin' && status !== 'active';
  const settings = {
    ...before.settings,
    ...(kind === 'theme' ? theme : {}),
    plugins: isGone ? plugins.filter((plugin) => plugin !== id) : plugins,
  };
  return { ...before, pages, settings };
}
