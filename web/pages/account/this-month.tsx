import { useAccountLimits, useUsageSummary } from '../../api/usage.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { useNow } from '../../components/time.tsx';
import {
  formatByteCount,
  formatCount,
  monthOf,
  ofLimit,
  reachedLimits,
  storedBytes,
} from '../../components/usage-figures.ts';
import styles from './this-month.module.css';

const EVERY_MINUTE = 60_000;

/** The usage of an account in this month beside its limits. */
export function ThisMonth({ accountId }: { accountId: string }) {
  const month = monthOf(useNow(EVERY_MINUTE));
  const summary = useUsageSummary(accountId, month);
  const limits = useAccountLimits(accountId);
  return (
    <Section title="This month">
      <Loaded query={summary} what="the usage">
        {({ billable_visits, network_total_bytes, storage_file_bytes, storage_database_bytes }) => (
          <Loaded query={limits} what="the limits">
            {({ visitors, bandwidth, storage }) => {
              const stored = storedBytes(
                storage_file_bytes.latest.value,
                storage_database_bytes.latest.value,
              );
              return (
                <dl className={styles.figures}>
                  <Figure name="Visits" used={billable_visits.sum} limit={visitors} format={formatCount} />
                  <Figure
                    name="Bandwidth"
                    used={network_total_bytes.sum}
                    limit={bandwidth}
                    format={formatByteCount}
                  />
                  <Figure name="Storage" used={stored} limit={storage} format={formatByteCount} />
                </dl>
              );
            }}
          </Loaded>
        )}
      </Loaded>
    </Section>
  );
}

function Figure({
  name,
  used,
  limit,
  format,
}: {
  name: string;
  used: string | null;
  limit: number | null;
  format(count: string | null): string;
}) {
  const [reached] = reachedLimits([[name, used, limit]]);
  const part = limit === null || limit === 0 ? 0 : Math.min(1, Number(used ?? 0) / limit);
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd>
        {ofLimit(used, limit, format)}
        {limit !== null && (
          <span className={styles.track} aria-hidden="true">
            <span
              className={styles.used}
              data-tone={reached && (reached.percent >= 100 ? 'bad' : 'busy')}
              style={{ inlineSize: `${part * 100}%` }}
            />
          </span>
        )}
      </dd>
    </div>
  );
}
