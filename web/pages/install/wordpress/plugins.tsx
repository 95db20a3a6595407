import type { WordPressPlugin } from '../../../api/wordpress.ts';
import { Badge } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
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

/** The plugins of a website. */
export function Plugins({ plugins }: { plugins: readonly WordPressPlugin[] }) {
  return (
    <Section title="Plugins">
      {plugins.length === 0 ? (
        <Empty>This website has no plugins.</Empty>
      ) : (
        <Table
          caption="Installed plugins"
          addressName="plugins"
          columns={COLUMNS}
          rows={plugins}
          rowKey={({ status, file }) => `${status} ${file}`}
        />
      )}
    </Section>
  );
}
