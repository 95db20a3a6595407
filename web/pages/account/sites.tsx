import { useMutation } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Link } from 'wouter';
import { type ListedSite, loadMatchingSites, SITES_A_PAGE, useSiteList } from '../../api/site-list.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { SearchField } from '../../components/filter.tsx';
import { useListParameters, useSettled } from '../../components/list-parameters.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { onDemand } from '../../components/on-demand.ts';
import { Empty, Page } from '../../components/page.tsx';
import { Table, TableTools, usePage } from '../../components/table.tsx';
import { SelectionBar } from '../../components/table-selection.tsx';
import { tagsIn } from '../../components/tag-names.ts';
import { showFailure } from '../../components/toast.tsx';
import { useMay } from '../../session/session.ts';
import type { SiteAction } from '../site/site-dialogs.tsx';
import { TagSelectionDialog } from '../tags/tag-dialogs.tsx';
import { AttentionNotice } from './attention.tsx';
import { LimitNotice } from './limit-notice.tsx';
import { NothingMatches } from './nothing-matches.tsx';
import { NONE, withoutSite } from './search.ts';
import { ShownCount } from './shown-count.tsx';
import { siteColumns, siteOrderOf } from './site-columns.tsx';
import { ManageTags, TagFilter } from './tag-filter.tsx';
import { TransferNotice } from './transfer-notice.tsx';

const SiteDialogs = onDemand(
  () => import('../site/site-dialogs.tsx'),
  (module) => module.SiteDialogs,
);

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
          {withoutSite(unassigned)}{' '}
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
  const unselect = (id: string) =>
    setChosen((now) => ({ ...now, ids: new Set([...now.ids].filter((other) => other !== id)) }));
  const selectAll = useMutation({
    mutationFn: () => loadMatchingSites(accountId, shown.conditions),
    onSuccess: (all) => choose(new Set(all.map(({ id }) => id))),
    onError: showFailure,
  });
  // The site stays when its dialog closes, so that the dialog can close by itself.
  const [asked, setAsked] = useState<{ action: SiteAction | null; site: ListedSite } | null>(null);
  const onAsk = (action: SiteAction, site: ListedSite) => setAsked({ action, site });
  return (
    <>
      <Table
        caption="Sites"
        columns={siteColumns(shown.results, { accountId, onAsk })}
        rows={shown.results}
        rowKey={({ id }) => id}
        initialSort={{ column: 'name', direction: 'ascending' }}
        pageSize={SITES_A_PAGE}
        count={shown.count}
        selection={mayChange ? { selected, onSelect: choose, nameOf: ({ name }) => name } : undefined}
      />
      {asked !== null && (
        <Suspense fallback={null}>
          <SiteDialogs
            key={asked.site.id}
            site={{
              // As it is now, because someone else may change it while the dialog is open.
              ...(shown.results.find(({ id }) => id === asked.site.id) ?? asked.site),
              account: { id: accountId },
            }}
            asked={asked.action}
            onClose={() => setAsked({ ...asked, action: null })}
            onDeleted={() => unselect(asked.site.id)}
          />
        </Suspense>
      )}
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
