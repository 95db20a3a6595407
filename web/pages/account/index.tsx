import { Page } from '../../components/page.tsx';
export function SitesPage(_: { accountId: string }) {
  return <Page title="SitesPage">…</Page>;
}

export function InstallsPage(_: { accountId: string }) {
  return <Page title="InstallsPage">…</Page>;
}

export function PeoplePage(_: { accountId: string }) {
  return <Page title="PeoplePage">…</Page>;
}

export function ActivityPage(_: { accountId: string }) {
  return <Page title="ActivityPage">…</Page>;
}

export function SettingsPage(_: { accountId: string }) {
  return <Page title="SettingsPage">…</Page>;
}
