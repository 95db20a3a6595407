import { useDomains } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { Copyable } from '../../../components/copy.tsx';
import { displayName } from '../../../components/display-name.ts';
import { Facts, Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { useMay } from '../../../session/session.ts';
import { InstallAttention } from '../../account/attention.tsx';
import { Operations } from '../operations/operations.tsx';
import { DeleteInstall } from '../settings/delete-install.tsx';
import { Staging } from './staging.tsx';
import { WordPressLine } from './wordpress-line.tsx';

/** The details, operations and staging copy of an install. */
export function Overview({ install }: { install: Install }) {
  const may = useMay(install.account.id);
  const addresses = useAddresses(install);
  return (
    <>
      {/* Of a failed install, the notice above the sections says why. */}
      {install.status === 'active' && <InstallAttention install={install} />}
      <Section title="Details">
        <Facts
          facts={[
            ['Primary domain', displayName(install.primary_domain)],
            ['Default domain', <code key="cname">{install.cname}</code>],
            ['PHP', install.php_version ?? 'none (static website)'],
            ...(install.wp_version === null
              ? []
              : [['WordPress', <WordPressLine key="wordpress" install={install} />] as const]),
            ...(addresses.length > 0 ? [['Addresses', addresses.join(', ')] as const] : []),
            ['Created', <Time key="created" at={install.created_at} exact />],
            ['ID', <Copyable key="id" text={install.id} what={`the ID of ${install.name}`} />],
          ]}
        />
      </Section>
      <Operations installId={install.id} />
      {may('install.work') && install.status === 'active' && (
        <Staging install={install} mayCreate={may('install.change')} />
      )}
      {/* An install that could not be created has no settings. */}
      {may('install.change') && install.status === 'failed' && <DeleteInstall install={install} />}
    </>
  );
}

/** Returns the addresses of the default domain; empty until known. */
function useAddresses(install: Install): readonly string[] {
  const domains = useDomains(install.id);
  const own = domains.data?.find(({ name }) => name === install.cname);
  return install.stable_ips ?? own?.network_details.dns_config_info.a_records ?? [];
}
