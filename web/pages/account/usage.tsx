import { type EnvironmentUsage, useAccountUsage } from '../../api/usage.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Empty, Page, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { formatByteCount, formatCount, storedBytes } from '../../components/usage-figures.ts';
import { ThisMonth } from './this-month.tsx';

/** The usage of an account: this month beside its limits, and the last 30 days by install. */
export function UsagePage({ accountId }: { accountId: string }) {
  const usage = useAccountUsage(accountId);
  return (
    <Page title="Usage" subtitle="A visit is one address on one UTC day, without bots.">
      <ThisMonth accountId={accountId} />
      <Section title="Last 30 days">
        <Loaded query={usage} what="the usage">
          {({ environment_metrics, all_environments_included }) => (
            <>
              {!all_environments_included && <p>You see the installs that you have access to.</p>}
              {environment_metrics.length === 0 ? (
                <Empty>No installs yet. Their usage will appear here.</Empty>
              ) : (
                <Table
                  caption="Usage by install"
                  columns={COLUMNS}
                  rows={environment_metrics}
                  rowKey={({ environment_name }) => environment_name}
                  initialSort={{ column: 'visits', direction: 'descending' }}
                />
              )}
            </>
          )}
        </Loaded>
      </Section>
    </Page>
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
