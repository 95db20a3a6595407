import { useMemo } from 'react';
import type { WordPressTheme } from '../../../api/wordpress.ts';
import { Badge } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { AddItem } from './add-item.tsx';
import { type ChangeableItem, ItemActions } from './item-actions.tsx';
import { UpdateCell } from './update-cell.tsx';
import styles from './wordpress.module.css';

const STATUSES: Record<WordPressTheme['status'], string> = {
  active: 'Active',
  parent: 'Parent of the active theme',
  inactive: 'Inactive',
};

const COLUMNS: Column<WordPressTheme>[] = [
  {
    id: 'name',
    header: 'Theme',
    rowHeader: true,
    sortBy: ({ name }) => name.toLowerCase(),
    cell: ({ name, stylesheet, parent }) => (
      <>
        {name}
        <code className={styles.file}>{stylesheet}</code>
        {parent !== null && <span className={styles.file}>Child of {parent}</span>}
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
    cell: ({ update, auto_update, bundled }) =>
      bundled ? 'with WordPress' : <UpdateCell update={update} isAutomatic={auto_update} />,
  },
];

function itemOf({ stylesheet, name, status, bundled, update, auto_update }: WordPressTheme): ChangeableItem {
  return {
    kind: 'theme',
    id: stylesheet,
    name,
    update: bundled ? null : (update?.version ?? null),
    isAutomatic: auto_update,
    mayActivate: status !== 'active',
    mayDeactivate: false,
    mayDelete: status === 'inactive' && !bundled,
    mayAutoUpdate: !bundled,
  };
}

/** The themes of a website. Users who may work on it change them. */
export function Themes({
  installId,
  themes,
  mayChange,
}: {
  installId: string;
  themes: readonly WordPressTheme[];
  mayChange: boolean;
}) {
  const columns = useMemo(
    () =>
      mayChange
        ? [
            ...COLUMNS,
            {
              id: 'actions',
              header: 'Actions',
              cell: (theme: WordPressTheme) => <ItemActions installId={installId} item={itemOf(theme)} />,
            },
          ]
        : COLUMNS,
    [installId, mayChange],
  );
  return (
    <Section title="Themes" actions={mayChange && <AddItem installId={installId} kind="theme" />}>
      {themes.length === 0 ? (
        <Empty>This website has no themes.</Empty>
      ) : (
        <Table
          caption="Installed themes"
          addressName="themes"
          columns={columns}
          rows={themes}
          rowKey={({ stylesheet }) => stylesheet}
        />
      )}
    </Section>
  );
}
