import BellIcon from '@heroicons/react/24/outline/BellIcon';
import { Link } from 'wouter';
import { useUnreadCount } from '../api/notifications.ts';
import styles from './bell.module.css';

/** Largest number shown. */
const MOST = 99;

/** The link to the inbox, with the number of unread notifications. */
export function Bell() {
  const { data: unread = 0 } = useUnreadCount();
  return (
    <Link href="/me/notifications" className={styles.bell} title="Notifications">
      <BellIcon />
      <span className="visually-hidden">
        {unread === 0 ? 'Notifications' : `Notifications: ${unread} unread`}
      </span>
      {unread > 0 && (
        <span className={styles.count} aria-hidden="true">
          {unread > MOST ? `${MOST}+` : unread}
        </span>
      )}
    </Link>
  );
}
