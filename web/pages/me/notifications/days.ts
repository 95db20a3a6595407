import type { Notification } from '../../../api/notifications.ts';

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full' });

/** Groups notifications, latest first, by the local day of their latest event: "Today", "Yesterday", "Monday, 2 March 2026". */
export function byDay(
  notifications: readonly Notification[],
  now: Date,
): { label: string; of: Notification[] }[] {
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  const names = new Map([
    [day.format(yesterday), 'Yesterday'],
    [day.format(now), 'Today'],
  ]);
  const groups = Map.groupBy(notifications, ({ last_at }) => day.format(new Date(last_at)));
  return [...groups].map(([date, of]) => ({ label: names.get(date) ?? date, of }));
}
