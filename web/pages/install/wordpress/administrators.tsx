import type { WordPressAdministrator } from '../../../api/wordpress.ts';
import { Empty, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';

const COLUMNS: Column<WordPressAdministrator>[] = [
  { id: 'login', header: 'User name', rowHeader: true, cell: ({ login }) => login },
  { id: 'name', header: 'Name', cell: ({ display_name }) => display_name },
  { id: 'email', header: 'Email', cell: ({ email }) => email ?? '–' },
  {
    id: 'registered',
    header: 'Registered',
    cell: ({ registered_at }) => (registered_at === null ? '–' : <Time at={registered_at} exact />),
  },
];

/** The users of a website who may do everything in it. */
export function Administrators({ administrators }: { administrators: readonly WordPressAdministrator[] }) {
  return (
    <Section title="Administrators">
      {administrators.length === 0 ? (
        <Empty>This website has no administrator.</Empty>
      ) : (
        <Table
          caption="Users with all permissions"
          addressName="administrators"
          columns={COLUMNS}
          rows={administrators}
          rowKey={({ login }) => login}
        />
      )}
    </Section>
  );
}
