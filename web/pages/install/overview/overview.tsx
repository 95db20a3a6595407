import { Suspense } from 'react';
import { useHas } from '../../../api/capabilities.ts';
import type { Domain } from '../../../api/domains.ts';
import { useDomains } from '../../../api/domains.ts';
import { type Install, useConnection } from '../../../api/installs.ts';
import { Copyable } from '../../../components/copy.tsx';
import { onDemand } from '../../../components/on-demand.ts';
import { Facts, Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { useMay } from '../../../session/session.ts';
import { InstallAttention } from '../../account/attention.tsx';
import { Operations } from '../operations/operations.tsx';
import { DeleteInstall } from '../settings/delete-install.tsx';
import styles from './overview.module.css';
import { QuickActions } from './quick-actions.tsx';
import { Staging } from './staging.tsx';
import { StatusStrip } from './status-strip.tsx';

const Traffic = onDemand(
  () => import('./traffic.tsx'),
  (module) => module.Traffic,
);

const Uptime = onDemand(
  () => import('../uptime/uptime-section.tsx'),
  (module) => module.UptimeSection,
);

/** The state of an install at a glance, its traffic, its activity and its details. */
export function Overview({ install }: { install: Install }) {
  const may = useMay(install.account.id);
  const domains = useDomains(install.id).data;
  const isActive = install.status === 'active';
  return (
    <>
      {/* Of a failed install, the notice above the sections says why. */}
      {isActive && <InstallAttention install={install} />}
      {isActive && <StatusStrip install={install} domains={domains} />}
      {isActive && may('install.work') && <QuickActions install={install} />}
      {isActive && (
        <Suspense fallback={<div className={styles.reserved} />}>
          <Traffic install={install} />
        </Suspense>
      )}
      {isActive && install.environment === 'production' && (
        <Suspense fallback={<div className={styles.reserved} />}>
          <Uptime install={install} />
        </Suspense>
      )}
      <Operations installId={install.id} />
      {may('install.work') && isActive && <Staging install={install} mayCreate={may('install.change')} />}
      <Details install={install} domains={domains} />
      {/* An install that could not be created has no settings. */}
      {may('install.change') && install.status === 'failed' && <DeleteInstall install={install} />}
    </>
  );
}

/** Where the owner of a new WordPress looks for its password. */
const SIGN_IN =
  '"Sign in to WordPress" above needs no password. To sign in without the portal, set a password in your WordPress profile. Then use ';

function Details({ install, domains }: { install: Install; domains: readonly Domain[] | undefined }) {
  const addresses = addressesOf(install, domains);
  const may = useMay(install.account.id);
  const hasLogin = useHas(install.id)('wordpress_login');
  const website = useConnection(install.id).data?.website_url;
  return (
    <Section title="Details">
      <Facts
        facts={[
          ['Default domain', <code key="cname">{install.cname}</code>],
          ...(addresses.length > 0 ? [['Addresses', addresses.join(', ')] as const] : []),
          ...(hasLogin && may('install.work') && website !== undefined
            ? [['Administration', <SignInWords key="admin" websiteUrl={website} />] as const]
            : []),
          ...(install.php_version === null ? [['Type', 'static website, without PHP'] as const] : []),
          ['Created', <Time key="created" at={install.created_at} exact />],
          ['ID', <Copyable key="id" text={install.id} what={`the ID of ${install.name}`} />],
        ]}
      />
    </Section>
  );
}

function SignInWords({ websiteUrl }: { websiteUrl: string }) {
  const { href } = new URL('wp-admin/', websiteUrl);
  return (
    <>
      {SIGN_IN}
      <a href={href} target="_blank" rel="noopener">
        {href}
        <span className="visually-hidden"> in a new tab</span>
      </a>
      .
    </>
  );
}

/** Returns the addresses of the default domain; empty until known. */
function addressesOf(install: Install, domains: readonly Domain[] | undefined): readonly string[] {
  const own = domains?.find(({ name }) => name === install.cname);
  return install.stable_ips ?? own?.network_details.dns_config_info.a_records ?? [];
}
