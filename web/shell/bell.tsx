import BellIcon from '@heroicons/react/24/outline/BellIcon';
import { Link, useLocation } from 'wouter';
import { useUnreadCount } from '../api/notifications.ts';
import styles from './bell.module.css';

const INBOX = '/me/notifications';
/** Largest number shown. */
const MOST = 99;

/** The link to the inbox, with the number of unread notifications. */
export function Bell() {
  const { data: unread = 0 } = useUnreadCount();
  const [location] = useLocation();
  return (
    <Link
      href={INBOX}
      className={styles.bell}
      title="Notifications"
      aria-current={location === INBOX ? 'page' : undefined}
    >
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
