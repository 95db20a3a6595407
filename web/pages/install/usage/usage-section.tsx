import { useMutation, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { type InstallUsage, type UsageDay, type UsageRollup, useInstallUsage } from '../../../api/usage.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Facts, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { formatByteCount, formatCount } from '../../../components/usage-figures.ts';
import { useMay } from '../../../session/session.ts';
import styles from './usage.module.css';

/** Traffic and storage of an install over the last 30 days. */
export function UsageSection({ install }: { install: Install }) {
  const usage = useInstallUsage(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  return (
    <Loaded query={usage} what="the usage">
      {({ metrics, metrics_rollup, limits }) => (
        <>
          <Section title="Last 30 days">
            <Facts
              facts={[
                ['Visits', formatCount(metrics_rollup.visit_count.sum)],
                ['Requests', formatCount(metrics_rollup.request_origin_count.sum)],
                ['Bandwidth', formatByteCount(metrics_rollup.network_total_bytes.sum)],
              ]}
            />
            <p className={styles.note}>
              A visit is one address on one UTC day, without bots. Traffic appears within minutes.
            </p>
          </Section>
          <Section title="Storage" actions={mayWork && <MeasureButton installId={install.id} />}>
            <Storage
              rollup={metrics_rollup}
              limits={limits}
              measuredAt={metrics.findLast(isMeasured)?.storage_update_time}
            />
          </Section>
          <Section title="By day">
            {metrics.length === 0 ? (
              <Empty>No traffic yet. Days appear here after the first visit.</Empty>
            ) : (
              <Table
                caption="Usage by day"
                columns={columnsFor(metrics)}
                rows={metrics.toReversed()}
                rowKey={({ date }) => date}
              />
            )}
          </Section>
        </>
      )}
    </Loaded>
  );
}

const isMeasured = (day: UsageDay) => day.storage_update_time !== null;

interface StorageProps {
  rollup: UsageRollup;
  limits: InstallUsage['limits'];
  measuredAt: string | null | undefined;
}

function Storage({ rollup, limits, measuredAt }: StorageProps) {
  if (measuredAt === null || measuredAt === undefined) {
    return <Empty>The storage has not been measured yet. It is measured every night.</Empty>;
  }
  const { storage_file_bytes, storage_database_bytes, autoloaded_bytes } = rollup;
  const database = storage_database_bytes.latest.value;
  return (
    <Facts
      facts={[
        ['Files', formatByteCount(storage_file_bytes.latest.value)],
        ...(database === null ? [] : [['Database', formatByteCount(database)] as const]),
        ...(autoloaded_bytes.latest.value === null
          ? []
          : [['Autoloaded options', formatByteCount(autoloaded_bytes.latest.value)] as const]),
        ...limits.map(
          ({ limited, used, limit }) => [LIMIT_NAMES[limited], `${percentOf(used, limit)} % used`] as const,
        ),
        ['Measured', <Time key="measured" at={measuredAt} />],
      ]}
    />
  );
}

const LIMIT_NAMES: Record<InstallUsage['limits'][number]['limited'], string> = {
  disk: 'Limit of disk space',
  files: 'Limit of files',
};
const percentOf = (used: string, limit: string) => Math.floor((Number(used) * 100) / Number(limit));

function columnsFor(days: readonly UsageDay[]): Column<UsageDay>[] {
  const most = Math.max(1, ...days.map(({ visit_count }) => Number(visit_count ?? 0)));
  return [
    { id: 'date', header: 'Day (UTC)', cell: ({ date }) => date, rowHeader: true },
    {
      id: 'visits',
      header: 'Visits',
      cell: ({ visit_count }) => (
        <span className={styles.visits}>
          {formatCount(visit_count)}
          <span
            className={styles.bar}
            style={{ inlineSize: `${(Number(visit_count ?? 0) / most) * 8}rem` }}
            aria-hidden="true"
          />
        </span>
      ),
    },
    { id: 'requests', header: 'Requests', cell: (day) => formatCount(day.request_origin_count) },
    { id: 'bandwidth', header: 'Bandwidth', cell: (day) => formatByteCount(day.network_total_bytes) },
    { id: 'files', header: 'Files', cell: (day) => formatByteCount(day.storage_file_bytes) },
  ];
}

function MeasureButton({ installId }: { installId: string }) {
  const queries = useQueryClient();
  const measure = useMutation({
    mutationFn: () =>
      unwrapEmpty(
        hosting.POST('/installs/{install_id}/usage/refresh_disk_usage', {
          params: { path: { install_id: installId } },
        }),
      ),
    onSuccess: () => showSuccess('Measuring the storage. The result appears within minutes.'),
    onError: showFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['usage', installId] }),
  });
  return (
    <Button pending={measure.isPending} onClick={() => measure.mutate()}>
      Measure storage
    </Button>
  );
}
