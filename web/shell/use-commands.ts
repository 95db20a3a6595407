import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { Install } from '../api/installs.ts';
import { showFailure } from '../components/toast.tsx';
import { useAccount, useMay, useSession, useSignOut } from '../session/session.ts';
import { sameInAccount } from './account-places.ts';
import type { Command, CommandGroup } from './commands.ts';
import { INSTALL_COMMANDS, type InstallCommand } from './install-commands.ts';
import { recentPages } from './recent-pages.ts';
import { applyTheme, chosenTheme, THEMES } from './theme.ts';

/** Pages of the signed-in user, as in their menu (person-menu.tsx), with other words that people search for. */
const OWN_PAGES = [
  ['Profile', '/me/profile', 'Name, phone and email address'],
  ['Password and second factor', '/me/security', 'Two-factor authentication, passkeys and sessions'],
  ['API access', '/me/api-access', 'API keys for programs'],
  ['SSH keys', '/me/ssh-keys', 'For SFTP'],
  ['Notifications', '/me/notifications', 'Inbox and emails'],
] as const;

/** Returns all commands of the palette except for the results of a search. `onPick` asks for the install of a command. */
export function useCommands(accountId: string, onPick: (command: InstallCommand) => void): CommandGroup[] {
  const [location, navigate] = useLocation();
  const account = useAccount(accountId);
  const may = useMay(accountId);
  const { user, accounts } = useSession();
  const signOut = useSignOut();
  const ofInstall = useInstallCommands(accountId, location, onPick);
  const open = (label: string, href: string, detail?: string): Command => ({
    id: `open ${href}`,
    label,
    ...(detail === undefined ? {} : { detail }),
    run: () => navigate(href),
  });
  const mayCreate = account !== undefined && may('site.change') && may('install.change');
  const recent = recentPages(user.id).filter(({ href }) => href.split('?')[0] !== location);

  return [
    {
      value: 'Actions',
      items: [
        ...ofInstall,
        ...(mayCreate ? [open('Create a site', `/accounts/${accountId}/new-site`, account.name)] : []),
      ],
    },
    {
      value: 'Recent pages',
      items: recent.map(({ title, href }) => ({ ...open(title, href), id: `recent ${href}` })),
    },
    { value: 'Pages', items: sidebarLinks().map(([label, href, of]) => open(label, href, of)) },
    { value: 'Your account', items: OWN_PAGES.map(([label, href, detail]) => open(label, href, detail)) },
    {
      value: 'Settings',
      items: [
        ...accounts
          .filter(({ id }) => id !== accountId)
          .map((other) => ({
            ...open(`Switch to ${other.name}`, sameInAccount(other, location), 'Account'),
            id: `account ${other.id}`,
          })),
        ...THEMES.filter((theme) => theme !== chosenTheme()).map((theme) => ({
          id: `theme ${theme}`,
          label: `Use the ${theme} theme`,
          run: () => applyTheme(theme),
        })),
        { id: 'sign-out', label: 'Sign out', run: () => void signOut().catch(showFailure) },
      ],
    },
  ];
}

/** Commands for the open install, or for one that the user chooses. */
function useInstallCommands(
  accountId: string,
  location: string,
  onPick: (command: InstallCommand) => void,
): Command[] {
  const queries = useQueryClient();
  const mayWork = useMay(accountId)('install.work');
  const [, installId] = /^\/installs\/([^/]+)/.exec(location) ?? [];
  const install = installId === undefined ? undefined : queries.getQueryData<Install>(['install', installId]);
  if (!mayWork) return [];
  const target = install?.status === 'active' ? install : undefined;
  const forTarget = INSTALL_COMMANDS.filter(
    ({ needsWordPress }) => !needsWordPress || target?.php_version !== null,
  );
  return [
    ...(target === undefined
      ? []
      : forTarget.map((command) => ({
          id: `${command.id} ${target.id}`,
          label: command.labelFor(target.name),
          run: () => command.run(target, queries),
        }))),
    ...INSTALL_COMMANDS.map((command) => ({
      id: command.id,
      label: target === undefined ? command.label : `${command.label}: another install`,
      asks: true as const,
      run: () => onPick(command),
    })),
  ];
}

/** The links of the sidebar: label, address and the name of their list. It offers what this user and this install have. */
function sidebarLinks(): [label: string, href: string, of: string | undefined][] {
  const base = new URL(document.baseURI).pathname.replace(/\/$/, '');
  return [...document.querySelectorAll<HTMLAnchorElement>('#sidebar nav a')].map((link) => {
    const [, install] = /^Sections of (.*)$/.exec(link.closest('nav')?.ariaLabel ?? '') ?? [];
    return [link.textContent, link.pathname.slice(base.length), install];
  });
}
