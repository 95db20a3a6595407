import { Page } from '../../../components/page.tsx';
import { AddKeySection } from './add-key-section.tsx';
import { ConnectSection } from './connect-section.tsx';
import { KeysSection } from './keys-section.tsx';

export function SshKeysPage() {
  return (
    <Page title="SSH keys" subtitle="With these you reach the files of your installs.">
      <KeysSection />
      <AddKeySection />
      <ConnectSection />
    </Page>
  );
}
