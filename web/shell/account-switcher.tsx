import BuildingOfficeIcon from '@heroicons/react/24/outline/BuildingOfficeIcon';
import ChevronUpDownIcon from '@heroicons/react/24/outline/ChevronUpDownIcon';
import { Menu } from '../components/menu.tsx';
import { type SessionAccount, useSession } from '../session/session.ts';
import { sameInAccount } from './account-places.ts';
import styles from './shell.module.css';

/** The name of the current account. Users of several accounts switch here, and stay on the same page. */
export function AccountSwitcher({ account, location }: { account: SessionAccount; location: string }) {
  const { accounts } = useSession();
  if (accounts.length === 1) {
    return (
      <span className={styles.account}>
        <BuildingOfficeIcon />
        <span className={styles.name} title={account.name}>
          {account.name}
        </span>
      </span>
    );
  }
  return (
    <Menu
      bare
      label={`Account: ${account.name}. Switch account`}
      entries={accounts.map((other) => ({
        label: other.name,
        href: sameInAccount(other, location),
        current: other.id === account.id,
      }))}
    >
      <BuildingOfficeIcon />
      <span className={styles.name}>{account.name}</span>
      <ChevronUpDownIcon />
    </Menu>
  );
}
