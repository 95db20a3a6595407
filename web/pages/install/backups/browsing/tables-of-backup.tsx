import { type BackupTable, ENTRIES_A_PAGE, useBackupTables } from '../../../../api/backup-contents.ts';
import { formatBytes } from '../../../../components/bytes.ts';
import { Empty } from '../../../../components/page.tsx';
import { type Column, Table, usePage } from '../../../../components/table.tsx';
import type { Chosen } from './chosen.ts';
import { LoadedContent } from './first-reading.tsx';

const COLUMNS: readonly Column<BackupTable>[] = [
  { id: 'name', header: 'Table', rowHeader: true, cell: ({ name }) => name },
  { id: 'rows', header: 'Rows', cell: ({ rows }) => (rows === null ? 'unknown' : rows.toLocaleString('en')) },
  {
    id: 'size',
    header: 'Size in the backup',
    cell: ({ size_bytes }) => (size_bytes === null ? 'unknown' : formatBytes(size_bytes)),
  },
];

/** The tables of the database in a backup. */
export function TablesOfBackup({
  of,
  chosen,
  onChoose,
}: {
  of: { installId: string; backupId: string };
  chosen: Chosen;
  /** Null for users who may only look. */
  onChoose: ((chosen: Chosen) => void) | null;
}) {
  const [page] = usePage();
  const query = useBackupTables(of, page);
  return (
    <LoadedContent query={query} what="tables">
      {({ results, count }) =>
        count === 0 ? (
          <Empty>The backup has no tables.</Empty>
        ) : (
          <Table
            caption="Tables of the backup"
            columns={COLUMNS}
            rows={results}
            rowKey={({ name }) => name}
            count={count}
            pageSize={ENTRIES_A_PAGE}
            selection={
              onChoose === null
                ? undefined
                : {
                    selected: chosen.tables,
                    onSelect: (tables) => onChoose({ ...chosen, tables }),
                    nameOf: ({ name }) => name,
                  }
            }
          />
        )
      }
    </LoadedContent>
  );
}
