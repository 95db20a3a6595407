import type { Install } from '../../../api/installs.ts';
import { type UsageDay, useInstallUsage } from '../../../api/usage.ts';
import { formatBytes } from '../../../components/bytes.ts';
import { Chart } from '../../../components/chart.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { useNow } from '../../../components/time.tsx';
import { lastDays } from '../../../components/traffic-days.ts';
import { formatByteCount, formatCount } from '../../../components/usage-figures.ts';
import styles from './overview.module.css';

const EVERY_MINUTE = 60_000;

/** Charts of the last 30 days. Response time and hit ratio only if the install's host measures them. */
export function Traffic({ install }: { install: Install }) {
  const usage = useInstallUsage(install.id);
  const now = useNow(EVERY_MINUTE);
  return (
    <Section title="Last 30 days">
      <Loaded query={usage} what="the traffic">
        {({ metrics, metrics_rollup }) => {
          const range = { now, createdAt: install.created_at };
          const pages = pagesOf(metrics);
          if (Number(metrics_rollup.request_origin_count.sum ?? 0) === 0) {
            return <Empty>No traffic yet. Charts appear here after the first visit.</Empty>;
          }
          return (
            <div className={styles.charts}>
              <Chart
                title="Visits"
                summary={formatCount(metrics_rollup.visit_count.sum ?? '0')}
                kind="sum"
                days={lastDays(metrics, { ...range, absent: 0 }, ({ visit_count }) =>
                  Number(visit_count ?? 0),
                )}
                format={(value) => formatCount(String(value))}
              />
              <Chart
                title="Bandwidth"
                summary={formatByteCount(metrics_rollup.network_total_bytes.sum ?? '0')}
                kind="sum"
                days={lastDays(metrics, { ...range, absent: 0 }, (day) =>
                  Number(day.network_total_bytes ?? 0),
                )}
                format={formatBytes}
              />
              {pages !== null && (
                <>
                  <Chart
                    title="Response time of pages"
                    summary={`${milliseconds(pages.milliseconds / pages.requests)} on average`}
                    kind="average"
                    days={lastDays(metrics, { ...range, absent: null }, averageTime)}
                    format={milliseconds}
                  />
                  <Chart
                    title="Pages from the cache"
                    summary={percent(pages.hits / pages.requests)}
                    kind="average"
                    days={lastDays(metrics, { ...range, absent: null }, hitRatio)}
                    format={percent}
                    most={1}
                  />
                </>
              )}
            </div>
          );
        }}
      </Loaded>
    </Section>
  );
}

const milliseconds = (value: number) =>
  value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`;
const percent = (ratio: number) => `${Math.round(ratio * 100)} %`;

/** The counted pages of a day; null without any. */
function pagesOfDay({ page_request_count, page_cache_hit_count, page_response_ms }: UsageDay) {
  const requests = Number(page_request_count ?? 0);
  if (requests === 0) return null;
  return {
    requests,
    hits: Number(page_cache_hit_count ?? 0),
    milliseconds: Number(page_response_ms ?? 0),
  };
}

function pagesOf(days: readonly UsageDay[]) {
  const counted = days.map(pagesOfDay).filter((day) => day !== null);
  if (counted.length === 0) return null;
  return counted.reduce((sum, day) => ({
    requests: sum.requests + day.requests,
    hits: sum.hits + day.hits,
    milliseconds: sum.milliseconds + day.milliseconds,
  }));
}

function averageTime(day: UsageDay): number | null {
  const pages = pagesOfDay(day);
  return pages && pages.milliseconds / pages.requests;
}

function hitRatio(day: UsageDay): number | null {
  const pages = pagesOfDay(day);
  return pages && pages.hits / pages.requests;
}
