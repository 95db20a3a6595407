export interface WaitingUpdates {
  core: { available_update: { version: string } | null } | null;
  plugin_updates: number;
  theme_updates: number;
}

/** Names the updates that wait: "WordPress 6.9.1, 3 plugins and 1 theme"; null without any. */
export function waitingUpdates({ core, plugin_updates, theme_updates }: WaitingUpdates): string | null {
  const update = core?.available_update ?? null;
  const parts = [
    ...(update === null ? [] : [`WordPress ${update.version}`]),
    ...counted(plugin_updates, 'plugin'),
    ...counted(theme_updates, 'theme'),
  ];
  if (parts.length < 2) return parts[0] ?? null;
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function counted(amount: number, noun: string): string[] {
  return amount === 0 ? [] : [`${amount} ${noun}${amount === 1 ? '' : 's'}`];
}
