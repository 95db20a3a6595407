import type { WordPressTheme } from '../../../api/wordpress.ts';
import { Badge } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
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

/** The themes of a website. */
export function Themes({ themes }: { themes: readonly WordPressTheme[] }) {
  return (
    <Section title="Themes">
      {themes.length === 0 ? (
        <Empty>This website has no themes.</Empty>
      ) : (
        <Table
          caption="Installed themes"
          addressName="themes"
          columns={COLUMNS}
          rows={themes}
          rowKey={({ stylesheet }) => stylesheet}
        />
      )}
    </Section>
  );
}
