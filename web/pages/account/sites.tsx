import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { type Install, useInstalls } from '../../api/installs.ts';
import { type Site, useSites } from '../../api/sites.ts';
import { Button } from '../../components/button.tsx';
import { byEnvironment, environmentLabel } from '../../components/environments.ts';
import { SearchField } from '../../components/filter.tsx';
import { InstallStatus } from '../../components/install-status.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Empty, Page } from '../../components/page.tsx';
import { type Column, Table, TableTools } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useMay } from '../../session/session.ts';
import styles from './account.module.css';
import { AttentionNotice } from './attention.tsx';
import { CreateSiteDialog } from './create-site.tsx';
import { LimitNotice } from './limit-notice.tsx';
import { useListParameters, useSearch } from './list-parameters.ts';
import { DomainSearchUnavailable, MatchedDomain } from './matched-domain.tsx';
import { NothingMatches } from './nothing-matches.tsx';
import { foundBy, NONE, searchSites } from './search.ts';
import { ShownCount } from './shown-count.tsx';
import { TransferNotice } from './transfer-notice.tsx';

const NO_INSTALLS: readonly Install[] = [];

/** The sites of an account. */
export function SitesPage({ accountId }: { accountId: string }) {
  const may = useMay(accountId);
  const sites = useSites(accountId);
  const { data: installs = NO_INSTALLS } = useInstalls(accountId);
  const [creating, setCreating] = useState(false);
  const byId = useMemo(() => new Map(installs.map((install) => [install.id, install])), [installs]);
  const unassigned = installs.filter(({ site }) => site === null).length;

  return (
    <Page
      title="Sites"
      subtitle="A site is one website with its environments: production, staging and development."
      actions={
        may('site.change') && (
          <Button variant="primary" onClick={() => setCreating(true)}>
            Create site
          </Button>
        )
      }
    >
      <LimitNotice accountId={accountId} />
      <AttentionNotice accountId={accountId} />
      <TransferNotice accountId={accountId} />
      {unassigned > 0 && (
        <Notice>
          {unassigned === 1 ? '1 install has no site.' : `${unassigned} installs have no site.`}{' '}
          <Link href={`/accounts/${accountId}/installs?site=${NONE}`}>Show installs without a site</Link>
        </Notice>
      )}
      <Loaded query={sites} what="sites">
        {(all) =>
          all.length === 0 ? (
            <Empty>
              {may('site.change') ? (
                <p>You have no sites yet. Create one, then add an install for each environment.</p>
              ) : (
                <p>You do not have access to any sites yet. Ask an account owner for access.</p>
              )}
            </Empty>
          ) : (
            <SiteTable accountId={accountId} sites={all} installs={byId} />
          )
        }
      </Loaded>
      <CreateSiteDialog accountId={accountId} open={creating} onOpenChange={setCreating} />
    </Page>
  );
}

function SiteTable({
  accountId,
  sites,
  installs,
}: {
  accountId: string;
  sites: readonly Site[];
  installs: ReadonlyMap<string, Install>;
}) {
  const { search: typed, setSearch } = useListParameters();
  const { text, byDomain, domainSearchFailed } = useSearch(accountId, typed);
  const found = useMemo(
    () => searchSites(sites, { text, byDomain }, installs),
    [sites, text, byDomain, installs],
  );
  const columns = useMemo(() => columnsOf(installs, byDomain), [installs, byDomain]);
  return (
    <>
      <TableTools>
        <SearchField
          label="Search sites"
          hint="site, install or domain"
          name="search"
          value={typed}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      </TableTools>
      {domainSearchFailed && <DomainSearchUnavailable />}
      <ShownCount shown={found.length} total={sites.length} noun="site" />
      {found.length === 0 ? (
        <NothingMatches onClear={() => setSearch('')} />
      ) : (
        <Table
          caption="Sites"
          columns={columns}
          rows={found}
          rowKey={({ id }) => id}
          initialSort={{ column: 'name', direction: 'ascending' }}
        />
      )}
    </>
  );
}

function columnsOf(
  installs: ReadonlyMap<string, Install>,
  byDomain: ReadonlyMap<string, string>,
): Column<Site>[] {
  return [
    {
      id: 'name',
      header: 'Site',
      rowHeader: true,
      sortBy: ({ name }) => name,
      cell: ({ id, name }) => <Link href={`/sites/${id}`}>{name}</Link>,
    },
    {
      id: 'environments',
      header: 'Environments',
      cell: (site) => <Environments site={site} installs={installs} byDomain={byDomain} />,
    },
    {
      id: 'installs',
      header: 'Installs',
      sortBy: (site) => site.installs.length,
      cell: (site) => site.installs.length,
    },
    {
      id: 'created',
      header: 'Created',
      sortBy: ({ created_at }) => Date.parse(created_at),
      cell: ({ created_at }) => <Time at={created_at} />,
    },
  ];
}

function Environments({
  site,
  installs,
  byDomain,
}: {
  site: Site;
  installs: ReadonlyMap<string, Install>;
  byDomain: ReadonlyMap<string, string>;
}) {
  if (site.installs.length === 0) return <span className={styles.soft}>None yet</span>;
  return (
    <ul className={styles.environments}>
      {byEnvironment(site.installs).map(({ id, name, environment }) => {
        const install = installs.get(id);
        return (
          <li key={id}>
            <Link href={`/installs/${id}`}>{name}</Link>
            <span className={styles.soft}>{environmentLabel(environment)}</span>
            {install && <InstallStatus status={install.status} />}
            <MatchedDomain name={foundBy(byDomain, { id, primary_domain: install?.primary_domain })} />
          </li>
        );
      })}
    </ul>
  );
}
