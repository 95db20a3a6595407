import type { WordPress } from '../../../api/wordpress.ts';

interface Updatable {
  update: { version: string } | null;
}

/** Names the updates that wait: "WordPress 6.9.1, 3 plugins and 1 theme"; null without any. */
export function waitingUpdates({
  core,
  plugins,
  themes,
}: Pick<WordPress, 'core'> & { plugins: readonly Updatable[]; themes: readonly Updatable[] }): string | null {
  const update = core?.available_update ?? null;
  const parts = [
    ...(update === null ? [] : [`WordPress ${update.version}`]),
    ...counted(plugins, 'plugin'),
    ...counted(themes, 'theme'),
  ];
  if (parts.length < 2) return parts[0] ?? null;
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function counted(items: readonly Updatable[], noun: string): string[] {
  const amount = items.filter(({ update }) => update !== null).length;
  if (amount === 0) return [];
  return [`${amount} ${noun}${amount === 1 ? '' : 's'}`];
}
