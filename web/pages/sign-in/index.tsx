import { Page } from '../../components/page.tsx';
export function SignInPage() {
  return <Page title="SignInPage">…</Page>;
}

export function SecondFactorPage() {
  return <Page title="SecondFactorPage">…</Page>;
}

export function ForgottenPasswordPage() {
  return <Page title="ForgottenPasswordPage">…</Page>;
}

export function PasswordLinkPage(_: { token: string }) {
  return <Page title="PasswordLinkPage">…</Page>;
}

export function InvitationPage(_: { token: string }) {
  return <Page title="InvitationPage">…</Page>;
}
