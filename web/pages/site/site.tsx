import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { type ListedInstall, useEnvironmentsOfSite } from '../../api/install-list.ts';
import { type Site, useSite } from '../../api/sites.ts';
import { isOpen, useTransfers } from '../../api/transfers.ts';
import { Button } from '../../components/button.tsx';
import { Copyable } from '../../components/copy.tsx';
import { ENVIRONMENTS, type Environment, environmentLabel } from '../../components/environments.ts';
import { Loaded } from '../../components/loaded.tsx';
import { isNotFound, NotFound } from '../../components/not-found.tsx';
import { Notice } from '../../components/notice.tsx';
import { Facts, Page, Section } from '../../components/page.tsx';
import { Tags } from '../../components/tags.tsx';
import { Time } from '../../components/time.tsx';
import { useMay } from '../../session/session.ts';
import { useSetCurrentAccount } from '../../shell/current-account.ts';
import { CreateInstallDialog } from './create-install.tsx';
import { DetachInstallDialog } from './detach-install.tsx';
import { MoveInstallDialog } from './move-install.tsx';
import styles from './site.module.css';
import { type SiteAction, SiteDialogs } from './site-dialogs.tsx';
import { SiteTypeSection } from './site-type.tsx';
import { Slot } from './slot.tsx';

/** The page of a site, with its environments side by side. */
export function SitePage({ siteId }: { siteId: string }) {
  const site = useSite(siteId);
  if (isNotFound(site.error)) return <NotFound what="Site" />;
  return (
    <Loaded query={site} what="the site" page>
      {(loaded) => <Shown site={loaded} />}
    </Loaded>
  );
}

const NO_INSTALLS: readonly ListedInstall[] = [];

/** The open dialog. */
type Asked = { what: SiteAction } | { what: 'create' | 'move' | 'detach'; environment: Environment };

function Shown({ site }: { site: Site }) {
  const accountId = site.account.id;
  useSetCurrentAccount(accountId);
  const may = useMay(accountId);
  const { data: installs = NO_INSTALLS } = useEnvironmentsOfSite(accountId, site.id);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [, navigate] = useLocation();
  const close = () => setAsked(null);
  const place =
    asked?.what === 'create' || asked?.what === 'move' ? { site, environment: asked.environment } : undefined;

  return (
    <Page
      title={site.name}
      subtitle={
        <>
          <Link href={`/accounts/${accountId}/sites`}>Sites</Link> · created <Time at={site.created_at} />
          {site.tags.length > 0 && (
            <div className={styles.tags}>
              <Tags tags={site.tags} most={site.tags.length} listAt={`/accounts/${accountId}/sites`} />
            </div>
          )}
        </>
      }
      actions={
        may('site.change') && (
          <>
            <Button onClick={() => setAsked({ what: 'rename' })}>Rename</Button>
            <Button onClick={() => setAsked({ what: 'tags' })}>Edit tags</Button>
            {may('site.transfer') && <Button onClick={() => setAsked({ what: 'transfer' })}>Transfer</Button>}
            <Button onClick={() => setAsked({ what: 'delete' })}>Delete</Button>
          </>
        )
      }
    >
      <OpenTransfer site={site} />
      <div className={styles.slots}>
        {ENVIRONMENTS.map((environment) => (
          <Slot
            key={environment}
            title={environmentLabel(environment)}
            install={inSlot(site, installs, environment)}
            mayChange={may('install.change')}
            onCreate={() => setAsked({ what: 'create', environment })}
            onMove={() => setAsked({ what: 'move', environment })}
            onDetach={() => setAsked({ what: 'detach', environment })}
          />
        ))}
      </div>
      <Others site={site} />
      {may('site.change') && <SiteTypeSection site={site} />}
      <Section title="API">
        <Facts
          facts={[
            ['Site ID', <Copyable key="site" text={site.id} what="the site ID" />],
            ['Account ID', <Copyable key="account" text={accountId} what="the account ID" />],
          ]}
        />
      </Section>
      <SiteDialogs
        site={site}
        asked={asked === null || 'environment' in asked ? null : asked.what}
        onClose={close}
        onDeleted={() => navigate(`/accounts/${accountId}/sites`)}
      />
      <CreateInstallDialog
        accountId={accountId}
        place={place}
        open={asked?.what === 'create'}
        onOpenChange={(open) => open || close()}
      />
      <MoveInstallDialog
        site={site}
        environment={asked?.what === 'move' ? asked.environment : undefined}
        onClose={close}
      />
      <DetachInstallDialog
        site={site}
        slot={asked?.what === 'detach' ? asked.environment : undefined}
        onClose={close}
      />
    </Page>
  );
}

/** Says that the site is being transferred. */
function OpenTransfer({ site }: { site: Site }) {
  const accountId = site.account.id;
  const may = useMay(accountId);
  const { data: transfers = [] } = useTransfers(accountId, may('transfer.read'));
  const open = transfers.find((transfer) => transfer.site === site.id && isOpen(transfer));
  if (!open) return null;
  return (
    <Notice>
      {open.awaits_acceptance
        ? 'This site is offered to another account. '
        : 'This site is being transferred to another account. '}
      <Link href={`/accounts/${accountId}/transfers`}>Show site transfers</Link>
    </Notice>
  );
}

/** Combines what the site and the list of installs know about the install of an environment. */
function inSlot(site: Site, installs: readonly ListedInstall[], slot: Environment) {
  const found = site.installs.find(({ environment }) => environment === slot);
  if (!found) return undefined;
  const more = installs.find(({ id }) => id === found.id);
  return { ...found, status: more?.status, primary_domain: more?.primary_domain ?? found.cname };
}

/** Installs of the site without an environment. */
function Others({ site }: { site: Site }) {
  const others = site.installs.filter(({ environment }) => environment === null);
  if (others.length === 0) return null;
  return (
    <Section title="No environment">
      <ul className={styles.others}>
        {others.map(({ id, name }) => (
          <li key={id}>
            <Link href={`/installs/${id}`}>{name}</Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
