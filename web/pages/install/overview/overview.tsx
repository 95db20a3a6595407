import type { Install } from '../../../api/installs.ts';
import { Facts, Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { useMay } from '../../../session/session.ts';
import { shownName } from '../domains/shown-name.ts';
import { DeleteInstall } from './delete-install.tsx';
import { MoveInstall } from './move-install.tsx';
import { Operations } from './operations.tsx';

/** What an install is, what is being done to it, and what may be done with it as a whole. */
export function Overview({ install }: { install: Install }) {
  const may = useMay(install.account.id);
  return (
    <>
      <Section title="Facts">
        <Facts
          facts={[
            ['Primary domain', shownName(install.primary_domain)],
            ['Own name', <code key="cname">{install.cname}</code>],
            ['PHP', install.php_version ?? 'none: this website is served as files'],
            ['Addresses', install.stable_ips?.join(', ') ?? 'not known'],
            ['Created', <Time key="created" at={install.created_at} exact />],
          ]}
        />
      </Section>
      <Operations installId={install.id} />
      {may('install.change') && (
        <>
          <MoveInstall install={install} />
          <DeleteInstall install={install} />
        </>
      )}
    </>
  );
}
