import { useUnreadCount } from '../../../api/notifications.ts';
import { Tabs } from '../../../components/tabs.tsx';

const INBOX = '/me/notifications';

/** The parts of the inbox. */
export function NotificationTabs({ current }: { current: 'all' | 'unread' | 'preferences' }) {
  const { data: unread = 0 } = useUnreadCount();
  const items = [
    { id: 'all', href: INBOX, label: 'All' },
    { id: 'unread', href: `${INBOX}?show=unread`, label: unread > 0 ? `Unread (${unread})` : 'Unread' },
    { id: 'preferences', href: `${INBOX}/preferences`, label: 'Preferences' },
  ];
  return (
    <Tabs
      label="Notifications"
      items={items.map(({ id, ...item }) => ({ ...item, current: id === current }))}
    />
  );
}
