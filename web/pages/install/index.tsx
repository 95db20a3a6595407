import { Suspense } from 'react';
import { Link, useLocation } from 'wouter';
import { type Install, useConnection, useInstall } from '../../api/installs.ts';
import { useReasons } from '../../api/overview.ts';
import { useSite } from '../../api/sites.ts';
import { environmentLabel } from '../../components/environments.ts';
import { InstallStatus } from '../../components/install-status.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { isNotFound, NotFound } from '../../components/not-found.tsx';
import { Page } from '../../components/page.tsx';
import { ListSkeleton } from '../../components/skeleton.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useMay } from '../../session/session.ts';
import { useSetCurrentAccount } from '../../shell/current-account.ts';
import { addressOf, InstallNavigation } from './install-navigation.tsx';
import { InstallNotice } from './install-notice.tsx';
import { OfferedPage } from './offered.tsx';
import { placesOf, type SectionProps } from './sections.ts';
import { AdminLink, WebsiteLink } from './website-link.tsx';
import { WordPressSignIn } from './wordpress-sign-in.tsx';

/** The pages of an install, each section at its own address. */
export function InstallPage({ installId, section }: { installId: string; section: string }) {
  const query = useInstall(installId);
  if (isNotFound(query.error)) return <NotFound what="Install" />;
  if (query.data === undefined) {
    return (
      <Loaded query={query} what="the install" page>
        {() => null}
      </Loaded>
    );
  }
  return <InstallFrame install={query.data} section={section} />;
}

function InstallFrame({ install, section }: { install: Install; section: string }) {
  useSetCurrentAccount(install.account.id);
  const connection = useConnection(install.id);
  const may = useMay(install.account.id);
  const [location] = useLocation();
  const own = `/installs/${install.id}`;
  const places = placesOf(install, may);
  const place = places.find(({ sections }) => sections.some(({ id }) => id === section));
  const present = place?.sections.find(({ id }) => id === section);
  if (place === undefined || present === undefined) {
    return (
      <Page title="Page not found">
        <InstallNavigation install={install} places={places} section={section} />
        <p>
          There is no page at <code>{location}</code>. Go to <Link href={own}>{install.name}</Link>.
        </p>
      </Page>
    );
  }
  return (
    <Page
      title={section === 'overview' ? install.name : present.label}
      context={section === 'overview' ? undefined : install.name}
      subtitle={<Placement install={install} />}
      actions={
        install.status === 'active' &&
        connection.data && (
          <>
            {/* Every install with PHP runs WordPress. */}
            {install.php_version !== null &&
              (may('install.work') ? (
                <WordPressSignIn installId={install.id} />
              ) : (
                <AdminLink websiteUrl={connection.data.website_url} />
              ))}
            <WebsiteLink href={connection.data.website_url} />
          </>
        )
      }
    >
      <InstallNavigation install={install} places={places} section={section} />
      {place.sections.length > 1 && (
        <Tabs
          label={`Sections of ${place.label}`}
          items={place.sections.map(({ id, label }) => ({
            href: addressOf(install, id),
            label,
            current: id === section,
          }))}
        />
      )}
      <InstallNotice install={install} />
      <Suspense fallback={<ListSkeleton label={`Loading ${present.label}`} />}>
        {present.needs === undefined ? (
          <present.content install={install} />
        ) : (
          <OfferedPage installId={install.id} need={present.needs}>
            <present.content install={install} />
          </OfferedPage>
        )}
      </Suspense>
    </Page>
  );
}

/** The status, environment and site of an install. */
function Placement({ install }: SectionProps) {
  const site = useSite(install.site?.id);
  const reasons = useReasons(install);
  return (
    <>
      <InstallStatus status={install.status} needsAttention={reasons && reasons.length > 0} />{' '}
      <span aria-hidden="true">· </span>
      {environmentLabel(install.environment)}
      {install.site === null ? (
        ', no site'
      ) : (
        <>
          {install.environment === null ? ' in ' : ' of '}
          <Link href={`/sites/${install.site.id}`}>{site.data?.name ?? 'its site'}</Link>
        </>
      )}
    </>
  );
}
