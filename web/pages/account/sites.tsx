import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import {
  type ListedSite,
  loadMatchingSites,
  SITES_A_PAGE,
  type SiteOrder,
  useSiteList,
} from '../../api/site-list.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { byEnvironment, environmentLabel } from '../../components/environments.ts';
import { SearchField } from '../../components/filter.tsx';
import { InstallStatus } from '../../components/install-status.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Empty, Page } from '../../components/page.tsx';
import { type Column, Table, TableTools, usePage } from '../../components/table.tsx';
import { SelectionBar } from '../../components/table-selection.tsx';
import { tagsIn } from '../../components/tag-names.ts';
import { Tags } from '../../components/tags.tsx';
import { Time } from '../../components/time.tsx';
import { showFailure } from '../../components/toast.tsx';
import { useMay } from '../../session/session.ts';
import { TagSelectionDialog } from '../tags/tag-dialogs.tsx';
import styles from './account.module.css';
import { AttentionNotice } from './attention.tsx';
import { LimitNotice } from './limit-notice.tsx';
import { useListParameters, useSettled } from './list-parameters.ts';
import { MatchedDomain } from './matched-domain.tsx';
import { NothingMatches } from './nothing-matches.tsx';
import { NONE } from './search.ts';
import { ShownCount } from './shown-count.tsx';
import { ManageTags, TagFilter } from './tag-filter.tsx';
import { TransferNotice } from './transfer-notice.tsx';

/** The sites of an account. The server searches, sorts and pages them. */
export function SitesPage({ accountId }: { accountId: string }) {
  const may = useMay(accountId);
  const { get, ask, search: typed, setSearch } = useListParameters();
  const [page] = usePage();
  const tags = tagsIn(get('tags'));
  const conditions = { search: useSettled(typed), tags };
  const sites = useSiteList(accountId, conditions, siteOrderOf(get('sort')), page * SITES_A_PAGE);
  const unassigned = sites.data?.unassigned ?? 0;

  return (
    <Page
      title="Sites"
      subtitle="A site is one website with its environments: production, staging and development."
      actions={
        may('site.change') && (
          <ButtonLink variant="primary" href={`/accounts/${accountId}/new-site`}>
            Create site
          </ButtonLink>
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
        {(shown) =>
          shown.total === 0 ? (
            <Empty>
              {may('site.change') ? (
                <p>
                  You have no sites yet. Create one to get a website with its own address within a minute.
                </p>
              ) : (
                <p>You do not have access to any sites yet. Ask an account owner for access.</p>
              )}
            </Empty>
          ) : (
            <>
              <TableTools>
                <SearchField
                  label="Search sites"
                  hint="site, install or domain"
                  name="search"
                  value={typed}
                  onChange={(event) => setSearch(event.currentTarget.value)}
                />
                <TagFilter accountId={accountId} value={tags} onChange={(next) => ask({ tags: next })} />
                {may('site.change') && <ManageTags accountId={accountId} />}
              </TableTools>
              <ShownCount shown={shown.count} total={shown.total} noun="site" />
              {shown.results.length === 0 ? (
                <NothingMatches onClear={() => ask({ search: '', tags: '', page: '' })} />
              ) : (
                <SiteTable accountId={accountId} shown={shown} />
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

type ShownSites = NonNullable<ReturnType<typeof useSiteList>['data']>;

/** The table of sites. Users who may change sites select some to tag them. Other filters begin another selection. */
function SiteTable({ accountId, shown }: { accountId: string; shown: ShownSites }) {
  const mayChange = useMay(accountId)('site.change');
  const [tagging, setTagging] = useState(false);
  const under = JSON.stringify(shown.conditions);
  const [chosen, setChosen] = useState<{ under: string; ids: ReadonlySet<string> }>({
    under,
    ids: new Set(),
  });
  const selected = chosen.under === under ? chosen.ids : new Set<string>();
  const choose = (ids: ReadonlySet<string>) => setChosen({ under, ids });
  const selectAll = useMutation({
    mutationFn: () => loadMatchingSites(accountId, shown.conditions),
    onSuccess: (all) => choose(new Set(all.map(({ id }) => id))),
    onError: showFailure,
  });
  const hasTags = shown.results.some(({ tags }) => tags.length > 0);
  return (
    <>
      <Table
        caption="Sites"
        columns={hasTags ? COLUMNS : COLUMNS.filter(({ id }) => id !== 'tags')}
        rows={shown.results}
        rowKey={({ id }) => id}
        initialSort={{ column: 'name', direction: 'ascending' }}
        pageSize={SITES_A_PAGE}
        count={shown.count}
        selection={mayChange ? { selected, onSelect: choose, nameOf: ({ name }) => name } : undefined}
      />
      <TagSelectionDialog
        accountId={accountId}
        selected={{ noun: 'site', ids: [...selected] }}
        open={tagging}
        onOpenChange={setTagging}
      />
      <SelectionBar
        count={selected.size}
        noun="site"
        matching={shown.count}
        pending={selectAll.isPending}
        onSelectAll={() => selectAll.mutate()}
        onClear={() => choose(new Set())}
      >
        <Button small variant="primary" onClick={() => setTagging(true)}>
          Tags
        </Button>
      </SelectionBar>
    </>
  );
}

const SORTS = ['name', 'installs', 'created'] as const;

/** Parses the sort order in the query string. An invalid one sorts by name. */
function siteOrderOf(asked: string): SiteOrder {
  const column = SORTS.find((sort) => sort === asked.replace(/^-/, '')) ?? 'name';
  return asked === `-${column}` ? `-${column}` : column;
}

const environmentsOf = ({ installs }: ListedSite): string =>
  byEnvironment(installs)
    .map(({ name, environment }) => `${name} (${environmentLabel(environment)})`)
    .join(', ');

const COLUMNS: Column<ListedSite>[] = [
  {
    id: 'name',
    header: 'Site',
    rowHeader: true,
    sortBy: 'server',
    line: { share: 28, text: ({ name }) => name },
    cell: ({ id, name }) => <Link href={`/sites/${id}`}>{name}</Link>,
  },
  {
    id: 'environments',
    header: 'Environments',
    line: { share: 50, text: environmentsOf },
    cell: (site) => <Environments installs={site.installs} />,
  },
  {
    id: 'tags',
    header: 'Tags',
    line: { share: 22, text: ({ tags }) => tags.join(', ') },
    cell: ({ tags }) => <Tags tags={tags} />,
  },
  {
    id: 'installs',
    header: 'Installs',
    optional: true,
    sortBy: 'server',
    cell: (site) => site.installs.length,
  },
  {
    id: 'created',
    header: 'Created',
    optional: true,
    sortBy: 'server',
    cell: ({ created_at }) => (
      <span className={styles.whole}>
        <Time at={created_at} />
      </span>
    ),
  },
];

function Environments({ installs }: Pick<ListedSite, 'installs'>) {
  if (installs.length === 0) return <span className={styles.soft}>None yet</span>;
  return (
    <ul className={styles.environments}>
      {byEnvironment(installs).map(({ id, name, environment, status, needs_attention, matched_domain }) => (
        <li key={id}>
          <Link className={styles.quiet} href={`/installs/${id}`}>
            {name}
          </Link>
          <span className={styles.soft}>{environmentLabel(environment)}</span>
          {(status !== 'active' || needs_attention) && (
            <InstallStatus status={status} needsAttention={needs_attention} />
          )}
          <MatchedDomain name={matched_domain} />
        </li>
      ))}
    </ul>
  );
}
