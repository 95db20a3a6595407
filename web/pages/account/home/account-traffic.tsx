import { useAccountTraffic } from '../../../api/usage.ts';
import { formatBytes } from '../../../components/bytes.ts';
import { Chart } from '../../../components/chart.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { useNow } from '../../../components/time.tsx';
import { lastDays } from '../../../components/traffic-days.ts';
import { formatCount } from '../../../components/usage-figures.ts';
import styles from './home.module.css';

const EVERY_MINUTE = 60_000;

/** Charts of the visits and the bandwidth of an account in the last 30 days; empty without any traffic. */
export function AccountTraffic({ accountId }: { accountId: string }) {
  const traffic = useAccountTraffic(accountId);
  const now = useNow(EVERY_MINUTE);
  if (traffic.data?.length === 0) return null;
  return (
    <Section title="Last 30 days">
      <Loaded query={traffic} what="the traffic">
        {(days) => {
          const range = { now, absent: 0 } as const;
          const visits = lastDays(days, range, ({ visit_count }) => Number(visit_count));
          const bytes = lastDays(days, range, ({ network_total_bytes }) => Number(network_total_bytes));
          return (
            <div className={styles.charts}>
              <Chart
                title="Visits"
                summary={formatCount(String(sumOf(visits)))}
                kind="sum"
                days={visits}
                format={(value) => formatCount(String(value))}
              />
              <Chart
                title="Bandwidth"
                summary={formatBytes(sumOf(bytes))}
                kind="sum"
                days={bytes}
                format={formatBytes}
              />
            </div>
          );
        }}
      </Loaded>
    </Section>
  );
}

const sumOf = (days: readonly { value: number | null }[]) =>
  days.reduce((sum, { value }) => sum + (value ?? 0), 0);
