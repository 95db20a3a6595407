import { useFirstInstalls, useInstallsById } from '../api/install-list.ts';
import { environmentLabel } from '../components/environments.ts';
import { useSession } from '../session/session.ts';
import type { CommandGroup } from './commands.ts';
import type { CommandTarget, InstallCommand } from './install-commands.ts';
import { type RecentPage, recentPages } from './recent-pages.ts';

/** Returns the IDs of the installs of recent pages, newest first. */
export function recentInstalls(pages: readonly RecentPage[]): string[] {
  const ids = pages.flatMap(({ href }) => /^\/installs\/([\da-f-]{36})\b/.exec(href)?.[1] ?? []);
  return [...new Set(ids)];
}

/** Loads what a command offers before the user types: the account's installs of recent pages, then its first ones by name. */
export function useSuggestedInstalls(
  accountId: string,
  { needsWordPress }: InstallCommand,
  runFor: (install: CommandTarget) => void,
) {
  const recentIds = recentInstalls(recentPages(useSession().user.id));
  const known = useInstallsById(accountId, recentIds).data ?? [];
  const first = useFirstInstalls(accountId, { status: 'active' });
  const all = first.data?.results ?? [];
  const isFit = ({ php_version }: { php_version: string | null }) => !needsWordPress || php_version !== null;
  const recent = recentIds.flatMap((id) => known.find((install) => install.id === id) ?? []).filter(isFit);
  const others = all.filter(({ id }) => !recentIds.includes(id)).filter(isFit);

  const itemOf = ({ id, name }: CommandTarget) => {
    const listed = all.find((install) => install.id === id);
    const place = listed?.site_name
      ? `${environmentLabel(listed.environment)} of ${listed.site_name}`
      : undefined;
    return { id, label: name, ...(place && { detail: place }), run: () => runFor({ id, name }) };
  };
  const groups: CommandGroup[] = [
    { value: 'Recent installs', items: recent.map(itemOf) },
    { value: 'Installs', items: others.map(itemOf) },
  ].filter(({ items }) => items.length > 0);
  return { groups, error: first.data === undefined ? first.error : null, retry: () => void first.refetch() };
}
