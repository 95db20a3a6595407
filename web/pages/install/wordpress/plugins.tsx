import { useMemo, useState } from 'react';
import { useHas } from '../../../api/capabilities.ts';
import type { WordPressPlugin } from '../../../api/wordpress.ts';
import { Button } from '../../../components/button.tsx';
import { Badge } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { SelectionBar } from '../../../components/table-selection.tsx';
import { AddItem } from './add-item.tsx';
import { type ChangeableItem, ItemActions, useItemChanges } from './item-actions.tsx';
import { UpdateCell } from './update-cell.tsx';
import styles from './wordpress.module.css';

const STATUSES: Record<WordPressPlugin['status'], string> = {
  active: 'Active',
  network: 'Active on all sites',
  inactive: 'Inactive',
  must_use: 'Must-use',
  dropin: 'Drop-in',
};

const COLUMNS: Column<WordPressPlugin>[] = [
  {
    id: 'name',
    header: 'Plugin',
    rowHeader: true,
    sortBy: ({ name }) => name.toLowerCase(),
    cell: ({ name, file }) => (
      <>
        {name}
        <code className={styles.file}>{file}</code>
      </>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    sortBy: ({ status }) => STATUSES[status],
    cell: ({ status }) => <Badge tone={status === 'inactive' ? 'plain' : 'good'}>{STATUSES[status]}</Badge>,
  },
  { id: 'version', header: 'Version', cell: ({ version }) => version ?? '–' },
  {
    id: 'update',
    header: 'Update',
    sortBy: ({ update }) => (update === null ? 1 : 0),
    cell: ({ update, auto_update }) => <UpdateCell update={update} isAutomatic={auto_update} />,
  },
];

/** WordPress always loads the others. */
const isChangeable = ({ status }: WordPressPlugin) => status === 'active' || status === 'inactive';

const keyOf = ({ status, file }: WordPressPlugin) => `${status} ${file}`;

function itemOf({ file, name, status, update, auto_update }: WordPressPlugin): ChangeableItem {
  return {
    kind: 'plugin',
    id: file,
    name,
    update: update?.version ?? null,
    isAutomatic: auto_update,
    mayActivate: status === 'inactive',
    mayDeactivate: status === 'active',
    mayDelete: status === 'inactive',
    mayAutoUpdate: true,
  };
}

/** The plugins of a website. Users who may work on it change them. */
export function Plugins({
  installId,
  plugins,
  mayChange,
}: {
  installId: string;
  plugins: readonly WordPressPlugin[];
  mayChange: boolean;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { update } = useItemChanges(installId);
  const mayUpdate = useHas(installId)('wordpress_updates') && mayChange;
  const columns = useMemo(
    () =>
      mayChange
        ? [
            ...COLUMNS,
            {
              id: 'actions',
              header: 'Actions',
              cell: (plugin: WordPressPlugin) =>
                isChangeable(plugin) && <ItemActions installId={installId} item={itemOf(plugin)} />,
            },
          ]
        : COLUMNS,
    [installId, mayChange],
  );
  // A plugin that is gone, or has a newer version, is not selected.
  const waiting = plugins.filter((plugin) => plugin.update !== null);
  const selected = waiting.filter((plugin) => chosen.has(keyOf(plugin)));
  return (
    <Section title="Plugins" actions={mayChange && <AddItem installId={installId} kind="plugin" />}>
      {plugins.length === 0 ? (
        <Empty>This website has no plugins.</Empty>
      ) : (
        <Table
          caption="Installed plugins"
          addressName="plugins"
          columns={columns}
          rows={plugins}
          rowKey={keyOf}
          selection={
            mayUpdate && waiting.length > 0
              ? {
                  selected: new Set(selected.map(keyOf)),
                  onSelect: setChosen,
                  nameOf: ({ name }) => name,
                  isOffered: (plugin) => plugin.update !== null,
                }
              : undefined
          }
        />
      )}
      <SelectionBar
        count={selected.length}
        noun="plugin"
        matching={waiting.length}
        onSelectAll={() => setChosen(new Set(waiting.map(keyOf)))}
        onClear={() => setChosen(new Set())}
      >
        <Button
          small
          variant="primary"
          pending={update.isPending}
          onClick={() =>
            update.mutate(
              { kind: 'plugin', ids: selected.map(({ file }) => file) },
              { onSuccess: () => setChosen(new Set()) },
            )
          }
        >
          Update selected
        </Button>
      </SelectionBar>
    </Section>
  );
}
