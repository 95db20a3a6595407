export { NotificationsPage } from './notifications-page.tsx';
export { NotificationPreferencesPage } from './preferences-page.tsx';
