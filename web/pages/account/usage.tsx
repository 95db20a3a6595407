import { type EnvironmentUsage, useAccountUsage } from '../../api/usage.ts';
import { useListParameters } from '../../components/list-parameters.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Empty, Page, Section } from '../../components/page.tsx';
import { useRowSearch } from '../../components/row-search.tsx';
import { type Column, Table, TableTools } from '../../components/table.tsx';
import { tagsIn } from '../../components/tag-names.ts';
import { formatByteCount, formatCount, storedBytes } from '../../components/usage-figures.ts';
import { TagFilter } from './tag-filter.tsx';
import { ThisMonth } from './this-month.tsx';

/** The usage of an account: this month beside its limits, and the last 30 days by install. */
export function UsagePage({ accountId }: { accountId: string }) {
  const { get, ask } = useListParameters();
  const tags = tagsIn(get('tags'));
  const usage = useAccountUsage(accountId, tags);
  return (
    <Page title="Usage" subtitle="A visit is one address on one UTC day, without bots.">
      <ThisMonth accountId={accountId} />
      <Section title="Last 30 days">
        <Loaded query={usage} what="the usage">
          {({ environment_metrics, all_environments_included, tags: shownTags }) => (
            <>
              {!all_environments_included && <p>You see the installs that you have access to.</p>}
              <UsageTable
                accountId={accountId}
                rows={environment_metrics}
                isFiltered={shownTags !== ''}
                tags={tags}
                onTags={(next) => ask({ tags: next })}
              />
            </>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

function UsageTable({
  accountId,
  rows,
  isFiltered,
  tags,
  onTags,
}: {
  accountId: string;
  rows: readonly EnvironmentUsage[];
  /** Whether the rows are only those with some tags, which another choice replaces. */
  isFiltered: boolean;
  /** Tags separated by commas. */
  tags: string;
  onTags(tags: string): void;
}) {
  const { found, field, nothing } = useRowSearch(rows, 'installs', ({ environment_name }) => [
    environment_name,
  ]);
  if (rows.length === 0 && !isFiltered) return <Empty>No installs yet. Their usage will appear here.</Empty>;
  return (
    <>
      <TableTools>
        {field}
        <TagFilter accountId={accountId} value={tags} onChange={onTags} />
      </TableTools>
      {rows.length === 0 ? (
        <Empty>No installs have this tag.</Empty>
      ) : (
        (nothing ?? (
          <Table
            caption="Usage by install"
            columns={COLUMNS}
            rows={found}
            rowKey={({ environment_name }) => environment_name}
            initialSort={{ column: 'visits', direction: 'descending' }}
          />
        ))
      )}
    </>
  );
}

const storageOf = ({ metrics_rollup }: EnvironmentUsage) =>
  storedBytes(
    metrics_rollup.storage_file_bytes.latest.value,
    metrics_rollup.storage_database_bytes.latest.value,
  );

const COLUMNS: readonly Column<EnvironmentUsage>[] = [
  {
    id: 'install',
    header: 'Install',
    cell: ({ environment_name }) => environment_name,
    sortBy: ({ environment_name }) => environment_name,
    rowHeader: true,
  },
  {
    id: 'visits',
    header: 'Visits',
    cell: ({ metrics_rollup }) => formatCount(metrics_rollup.visit_count.sum),
    sortBy: ({ metrics_rollup }) => Number(metrics_rollup.visit_count.sum ?? 0),
  },
  {
    id: 'bandwidth',
    header: 'Bandwidth',
    cell: ({ metrics_rollup }) => formatByteCount(metrics_rollup.network_total_bytes.sum),
    sortBy: ({ metrics_rollup }) => Number(metrics_rollup.network_total_bytes.sum ?? 0),
  },
  {
    id: 'storage',
    header: 'Storage',
    cell: (one) => formatByteCount(storageOf(one)),
    sortBy: (one) => Number(storageOf(one) ?? 0),
  },
];
