import { Page } from '../../../components/page.tsx';
import { PasskeysSection } from './passkeys-section.tsx';
import { PasswordSection } from './password-section.tsx';
import { SecondFactorSection } from './second-factor-section.tsx';
import { SessionsSection } from './sessions-section.tsx';

export function SecurityPage() {
  return (
    <Page title="Password and second factor" subtitle="Manage how you sign in and your active sessions.">
      <PasswordSection />
      <PasskeysSection />
      <SecondFactorSection />
      <SessionsSection />
    </Page>
  );
}
