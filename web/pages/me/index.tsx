import { Page } from '../../components/page.tsx';
export function ForcedEnrolmentPage() {
  return <Page title="ForcedEnrolmentPage">…</Page>;
}

export function ProfilePage() {
  return <Page title="ProfilePage">…</Page>;
}

export function SecurityPage() {
  return <Page title="SecurityPage">…</Page>;
}

export function ApiAccessPage() {
  return <Page title="ApiAccessPage">…</Page>;
}

export function SshKeysPage() {
  return <Page title="SshKeysPage">…</Page>;
}
