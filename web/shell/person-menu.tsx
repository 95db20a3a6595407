import ChevronUpDownIcon from '@heroicons/react/24/outline/ChevronUpDownIcon';
import UserCircleIcon from '@heroicons/react/24/outline/UserCircleIcon';
import { Menu } from '../components/menu.tsx';
import { showFailure } from '../components/toast.tsx';
import { useSession, useSignOut } from '../session/session.ts';
import styles from './shell.module.css';
import { applyTheme, chosenTheme, THEMES } from './theme.ts';

const PAGES = [
  { label: 'Profile', href: '/me/profile' },
  { label: 'Notifications', href: '/me/notifications' },
  { label: 'Password and second factor', href: '/me/security' },
  { label: 'API access', href: '/me/api-access' },
  { label: 'SSH keys', href: '/me/ssh-keys' },
];

/** The pages of the signed-in user, the theme and the sign-out. */
export function PersonMenu({ location }: { location: string }) {
  const { user } = useSession();
  const signOut = useSignOut();
  return (
    <Menu
      bare
      label={`${user.first_name} ${user.last_name}: your account`}
      current={location.startsWith('/me/')}
      entries={[
        ...PAGES.map((page) => ({ ...page, current: `${location}/`.startsWith(`${page.href}/`) })),
        ...THEMES.filter((theme) => theme !== chosenTheme()).map((theme) => ({
          label: `Theme: ${theme}`,
          onSelect: () => applyTheme(theme),
        })),
        { label: 'Sign out', onSelect: () => void signOut().catch(showFailure) },
      ]}
    >
      <UserCircleIcon />
      <span className={styles.name}>{user.first_name}</span>
      <ChevronUpDownIcon />
    </Menu>
  );
}
