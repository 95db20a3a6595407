import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { type Install, useInstalls } from '../../api/installs.ts';
import { type Reason, useAttention } from '../../api/overview.ts';
import { type Site, useSites } from '../../api/sites.ts';
import { useInstallsWithUpdates, type WordPressSummary } from '../../api/wordpress.ts';
import { Button } from '../../components/button.tsx';
import { displayName } from '../../components/display-name.ts';
import { environmentLabel, environmentRank } from '../../components/environments.ts';
import { InstallStatus, STATUS_LABELS } from '../../components/install-status.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Empty, Page } from '../../components/page.tsx';
import { type Column, RowMenu, Table } from '../../components/table.tsx';
import { SelectionBar } from '../../components/table-selection.tsx';
import { Time } from '../../components/time.tsx';
import { useMay } from '../../session/session.ts';
import { waitingUpdates } from '../install/wordpress/waiting-updates.ts';
import { CreateInstallDialog } from '../site/create-install.tsx';
import styles from './account.module.css';
import { AttentionNotice, Reasons } from './attention.tsx';
import { BulkActionsDialog } from './bulk-actions-dialog.tsx';
import { DeletedInstalls } from './deleted-installs.tsx';
import { focusFilter } from './focus-filter.ts';
import { InstallFilters } from './install-filters.tsx';
import { useListParameters, useSearch } from './list-parameters.ts';
import { DomainSearchUnavailable, MatchedDomain } from './matched-domain.tsx';
import { NothingMatches } from './nothing-matches.tsx';
import { ATTENTION, filterInstalls, foundBy, installFilterOf } from './search.ts';
import { ShownCount } from './shown-count.tsx';

const NO_SITES: readonly Site[] = [];
const NONE_CHOSEN: ReadonlySet<string> = new Set();
const NO_ATTENTION: ReadonlyMap<string, readonly Reason[]> = new Map();
const NO_UPDATES: ReadonlyMap<string, WordPressSummary> = new Map();

/** The installs of an account. */
export function InstallsPage({ accountId }: { accountId: string }) {
  const may = useMay(accountId);
  const installs = useInstalls(accountId);
  const { data: sites } = useSites(accountId);
  const [creating, setCreating] = useState(false);
  return (
    <Page
      title="Installs"
      subtitle="An install is one website: its files, its database and its domains."
      actions={
        may('install.change') && (
          <Button variant="primary" onClick={() => setCreating(true)}>
            Create install
          </Button>
        )
      }
    >
      <Loaded query={installs} what="installs">
        {(all) =>
          all.length === 0 ? (
            <Empty>
              {may('install.change') ? (
                <p>
                  You have no installs yet. Create one to get a website with its own address within a minute.
                </p>
              ) : (
                <p>You do not have access to any installs yet. Ask an account owner for access.</p>
              )}
            </Empty>
          ) : (
            <InstallTable accountId={accountId} installs={all} sites={sites} />
          )
        }
      </Loaded>
      {may('install.change') && <DeletedInstalls accountId={accountId} />}
      <CreateInstallDialog
        accountId={accountId}
        sites={sites ?? NO_SITES}
        open={creating}
        onOpenChange={setCreating}
      />
    </Page>
  );
}

function InstallTable({
  accountId,
  installs,
  sites,
}: {
  accountId: string;
  installs: readonly Install[];
  sites: readonly Site[] | undefined;
}) {
  const { get, ask, search: typed, setSearch } = useListParameters();
  const { text, byDomain, domainSearchFailed } = useSearch(accountId, typed);
  const needing = useAttention(accountId);
  const mayWork = useMay(accountId)('install.work');
  const [working, setWorking] = useState(false);
  const [chosen, setChosen] = useState(NONE_CHOSEN);
  const attention = needing.data ?? NO_ATTENTION;
  const updates = useInstallsWithUpdates(accountId).data ?? NO_UPDATES;
  const { status, environment, site } = installFilterOf(get);
  const found = useMemo(
    () => filterInstalls(installs, { text, byDomain }, { status, environment, site }, attention),
    [installs, text, byDomain, status, environment, site, attention],
  );
  // An install that the filters hide is not selected.
  const selected = found.filter(({ id }) => chosen.has(id));
  const columns = useMemo(() => {
    const runsPhp = installs.some(({ php_version }) => php_version !== null);
    return columnsOf(sites, byDomain, attention, updates).filter(
      ({ id }) =>
        (id !== 'php' || runsPhp) &&
        // The status says that an install needs attention. The reasons need room of their own.
        (id !== 'attention' || status === ATTENTION) &&
        (id !== 'updates' || updates.size > 0),
    );
  }, [sites, installs, byDomain, attention, updates, status]);
  return (
    <>
      <InstallFilters
        search={typed}
        onSearch={setSearch}
        filter={{ status, environment, site }}
        onFilter={ask}
        sites={sites}
        needing={needing.data?.size}
      />
      {status !== ATTENTION && (
        <AttentionNotice accountId={accountId} onFollow={() => focusFilter('status')} />
      )}
      {domainSearchFailed && <DomainSearchUnavailable />}
      <ShownCount shown={found.length} total={installs.length} noun="install" />
      <BulkActionsDialog accountId={accountId} installs={selected} open={working} onOpenChange={setWorking} />
      {status === ATTENTION && needing.data === undefined ? (
        <Loaded query={needing} what="what needs attention">
          {() => null}
        </Loaded>
      ) : found.length === 0 ? (
        <NothingMatches onClear={() => ask({ search: '', status: '', environment: '', site: '' })} />
      ) : (
        <Table
          caption="Installs"
          columns={columns}
          rows={found}
          rowKey={({ id }) => id}
          initialSort={{ column: 'name', direction: 'ascending' }}
          selection={
            mayWork
              ? {
                  selected: new Set(selected.map(({ id }) => id)),
                  onSelect: setChosen,
                  nameOf: ({ name }) => name,
                }
              : undefined
          }
        />
      )}
      <SelectionBar
        count={selected.length}
        noun="install"
        matching={found.length}
        onSelectAll={() => setChosen(new Set(found.map(({ id }) => id)))}
        onClear={() => setChosen(NONE_CHOSEN)}
      >
        <Button small variant="primary" onClick={() => setWorking(true)}>
          Bulk actions
        </Button>
      </SelectionBar>
    </>
  );
}

function columnsOf(
  sites: readonly Site[] | undefined,
  byDomain: ReadonlyMap<string, string>,
  attention: ReadonlyMap<string, readonly Reason[]>,
  updates: ReadonlyMap<string, WordPressSummary>,
): Column<Install>[] {
  const names = new Map(sites?.map(({ id, name }) => [id, name]));
  const nameOfSite = ({ site }: Install) => (site === null ? undefined : names.get(site.id));
  return [
    {
      id: 'name',
      header: 'Install',
      rowHeader: true,
      sortBy: ({ name }) => name,
      cell: ({ id, name }) => (
        <span className={styles.named}>
          <Link href={`/installs/${id}`}>{name}</Link>
        </span>
      ),
    },
    {
      id: 'domain',
      header: 'Domain',
      sortBy: ({ primary_domain }) => primary_domain,
      cell: ({ id, primary_domain }) => (
        <span className={styles.named}>
          {displayName(primary_domain)} <MatchedDomain name={foundBy(byDomain, { id, primary_domain })} />
        </span>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      sortBy: ({ id, status }) => (attention.has(id) ? '' : STATUS_LABELS[status]),
      cell: ({ id, status }) => <InstallStatus status={status} needsAttention={attention.has(id)} />,
    },
    {
      id: 'attention',
      header: 'Needs attention',
      sortBy: ({ id }) => -(attention.get(id)?.length ?? 0),
      cell: ({ id }) => {
        const reasons = attention.get(id);
        return reasons === undefined ? null : <Reasons installId={id} reasons={reasons} />;
      },
    },
    {
      id: 'environment',
      header: 'Environment',
      sortBy: ({ environment }) => environmentRank(environment),
      cell: ({ environment }) =>
        environment === null ? <span className={styles.soft}>None</span> : environmentLabel(environment),
    },
    {
      id: 'site',
      header: 'Site',
      sortBy: (install) => nameOfSite(install) ?? '',
      cell: (install) => {
        const name = nameOfSite(install);
        if (install.site === null) return <span className={styles.soft}>None</span>;
        // The sites are on their way.
        if (name === undefined) return null;
        return (
          <span className={styles.install}>
            <Link href={`/sites/${install.site.id}`}>{name}</Link>
          </span>
        );
      },
    },
    {
      id: 'php',
      header: 'PHP',
      optional: true,
      sortBy: ({ php_version }) => php_version ?? '',
      cell: ({ php_version }) => php_version ?? <span className={styles.soft}>None</span>,
    },
    {
      id: 'updates',
      header: 'Updates',
      sortBy: ({ id }) => -countOf(updates.get(id)),
      cell: ({ id }) => {
        const waiting = updates.get(id);
        return waiting === undefined ? null : (
          <Link href={`/installs/${id}/wordpress`}>{waitingUpdates(waiting)}</Link>
        );
      },
    },
    {
      id: 'created',
      header: 'Created',
      optional: true,
      sortBy: ({ created_at }) => Date.parse(created_at),
      cell: ({ created_at }) => (
        <span className={styles.whole}>
          <Time at={created_at} />
        </span>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      cell: ({ id, name, status, php_version }) =>
        status === 'active' && (
          <RowMenu
            name={name}
            entries={[
              { label: 'Domains', href: `/installs/${id}/domains` },
              ...(php_version === null ? [] : [{ label: 'WordPress', href: `/installs/${id}/wordpress` }]),
              { label: 'Backups', href: `/installs/${id}/backups` },
              { label: 'Access', href: `/installs/${id}/connect` },
              { label: 'Settings', href: `/installs/${id}/settings` },
            ]}
          />
        ),
    },
  ];
}

function countOf(waiting: WordPressSummary | undefined): number {
  if (waiting === undefined) return 0;
  const { core, plugin_updates, theme_updates } = waiting;
  return (core?.available_update ? 1 : 0) + plugin_updates + theme_updates;
}
