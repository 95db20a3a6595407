export { ActivityPage } from './activity.tsx';
export { InstallsPage } from './installs.tsx';
export { PeoplePage } from './people.tsx';
export { SettingsPage } from './settings.tsx';
export { SitesPage } from './sites.tsx';
export { TransfersPage } from './transfers.tsx';
export { UsagePage } from './usage.tsx';
