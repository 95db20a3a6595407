import { Page } from '../../../components/page.tsx';
import { AddKeySection } from './add-key-section.tsx';
import { ConnectSection } from './connect-section.tsx';
import { KeysSection } from './keys-section.tsx';

export function SshKeysPage() {
  return (
    <Page title="SSH keys" subtitle="SSH keys let you connect to your installs by SFTP and SSH.">
      <KeysSection />
      <AddKeySection />
      <ConnectSection />
    </Page>
  );
}
