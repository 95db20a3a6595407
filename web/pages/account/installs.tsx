import { useMutation } from '@tanstack/react-query';
import { type ReactNode, Suspense, useState } from 'react';
import {
  INSTALLS_A_PAGE,
  type ListedInstall,
  loadMatchingInstalls,
  type SelectedInstall,
  useInstallList,
} from '../../api/install-list.ts';
import { Button } from '../../components/button.tsx';
import { useListParameters, useSettled } from '../../components/list-parameters.ts';
import { Loaded } from '../../components/loaded.tsx';
import { onDemand } from '../../components/on-demand.ts';
import { Empty, Page } from '../../components/page.tsx';
import { Table, usePage } from '../../components/table.tsx';
import { SelectionBar } from '../../components/table-selection.tsx';
import { showFailure } from '../../components/toast.tsx';
import { useMay } from '../../session/session.ts';
import { TagSelectionDialog } from '../tags/tag-dialogs.tsx';
import { AttentionNotice } from './attention.tsx';
import { DeletedInstalls } from './deleted-installs.tsx';
import { focusFilter } from './focus-filter.ts';
import { installColumns, installOrderOf } from './install-columns.tsx';
import { InstallFilters } from './install-filters.tsx';
import { NothingMatches } from './nothing-matches.tsx';
import { ATTENTION, conditionsOf, installFilterOf } from './search.ts';
import { ShownCount } from './shown-count.tsx';

const BulkActionsDialog = onDemand(
  () => import('./bulk-actions-dialog.tsx'),
  (module) => module.BulkActionsDialog,
);
const CreateInstallDialog = onDemand(
  () => import('../site/create-install.tsx'),
  (module) => module.CreateInstallDialog,
);

/** The installs of an account. The server filters, sorts and pages them. */
export function InstallsPage({ accountId }: { accountId: string }) {
  const may = useMay(accountId);
  const [creating, setCreating] = useState(false);
  const { get, ask, search: typed, setSearch } = useListParameters();
  const [page] = usePage();
  const filter = installFilterOf(get);
  const conditions = conditionsOf(filter, useSettled(typed));
  const list = useInstallList(accountId, conditions, installOrderOf(get('sort')), page * INSTALLS_A_PAGE);
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
      <Loaded query={list} what="installs">
        {(shown) =>
          shown.total === 0 ? (
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
            <>
              <InstallFilters
                accountId={accountId}
                search={typed}
                onSearch={setSearch}
                filter={filter}
                onFilter={ask}
              />
              {filter.status !== ATTENTION && (
                <AttentionNotice accountId={accountId} onFollow={() => focusFilter('status')} />
              )}
              <ShownCount shown={shown.count} total={shown.total} noun="install" />
              {shown.results.length === 0 ? (
                <NothingMatches
                  onClear={() =>
                    ask({ search: '', status: '', environment: '', site: '', tags: '', page: '' })
                  }
                />
              ) : (
                <InstallTable accountId={accountId} shown={shown} />
              )}
            </>
          )
        }
      </Loaded>
      {may('install.change') && <DeletedInstalls accountId={accountId} />}
      {creating && (
        <Suspense fallback={null}>
          <CreateInstallDialog accountId={accountId} open onOpenChange={setCreating} />
        </Suspense>
      )}
    </Page>
  );
}

type ShownInstalls = NonNullable<ReturnType<typeof useInstallList>['data']>;

function InstallTable({ accountId, shown }: { accountId: string; shown: ShownInstalls }) {
  const may = useMay(accountId);
  const { selected, onSelect, bar } = useSelection(accountId, shown, may('site.change'));
  return (
    <>
      <Table
        caption="Installs"
        columns={installColumns(shown.results, shown.conditions.status === ATTENTION)}
        rows={shown.results}
        rowKey={({ id }) => id}
        initialSort={{ column: 'name', direction: 'ascending' }}
        pageSize={INSTALLS_A_PAGE}
        count={shown.count}
        selection={may('install.work') ? { selected, onSelect, nameOf: ({ name }) => name } : undefined}
      />
      {bar}
    </>
  );
}

interface Chosen {
  /** The previous filters, as text. */
  under: string;
  installs: ReadonlyMap<string, SelectedInstall>;
}

/**
 * The selection in the list, on all its pages, and the bar with its actions. Other filters begin another selection, so
 * that an action never meets an install that the filters hide.
 */
function useSelection(accountId: string, { conditions, results, count }: ShownInstalls, mayTag: boolean) {
  const under = JSON.stringify(conditions);
  const [chosen, setChosen] = useState<Chosen>({ under, installs: new Map() });
  const [working, setWorking] = useState(false);
  // Stays once opened, so that the dialog can close by itself.
  const [worked, setWorked] = useState(false);
  if (working && !worked) setWorked(true);
  const [tagging, setTagging] = useState(false);
  const installs = chosen.under === under ? chosen.installs : new Map<string, SelectedInstall>();
  const choose = (all: readonly SelectedInstall[]) =>
    setChosen({ under, installs: new Map(all.map((install) => [install.id, install])) });
  const selectAll = useMutation({
    mutationFn: () => loadMatchingInstalls(accountId, conditions),
    onSuccess: choose,
    onError: showFailure,
  });

  const known = new Map<string, SelectedInstall>([
    ...installs,
    ...results.map((row: ListedInstall): [string, SelectedInstall] => [row.id, row]),
  ]);
  const selected = [...installs.values()];
  const bar: ReactNode = (
    <>
      {worked && (
        <Suspense fallback={null}>
          <BulkActionsDialog
            accountId={accountId}
            installs={selected}
            open={working}
            onOpenChange={setWorking}
          />
        </Suspense>
      )}
      <TagSelectionDialog
        accountId={accountId}
        selected={{ noun: 'install', installs: selected }}
        open={tagging}
        onOpenChange={setTagging}
      />
      <SelectionBar
        count={selected.length}
        noun="install"
        matching={count}
        pending={selectAll.isPending}
        onSelectAll={() => selectAll.mutate()}
        onClear={() => choose([])}
      >
        {mayTag && (
          <Button small onClick={() => setTagging(true)}>
            Tags
          </Button>
        )}
        <Button small variant="primary" onClick={() => setWorking(true)}>
          Bulk actions
        </Button>
      </SelectionBar>
    </>
  );
  return {
    selected: new Set(installs.keys()),
    onSelect: (keys: ReadonlySet<string>) =>
      choose([...keys].flatMap((key) => [known.get(key)].filter((found) => found !== undefined))),
    bar,
  };
}
