import { Link } from 'wouter';
import { useAccountLimits, useUsageSummary } from '../../api/usage.ts';
import { Notice } from '../../components/notice.tsx';
import { useNow } from '../../components/time.tsx';
import { monthOf, reachedLimits, storedBytes } from '../../components/usage-figures.ts';

const EVERY_MINUTE = 60_000;

/** Tells that the account has used 80 or 100 % of a limit. */
export function LimitNotice({ accountId }: { accountId: string }) {
  const { data: limits } = useAccountLimits(accountId);
  const { data: used } = useUsageSummary(accountId, monthOf(useNow(EVERY_MINUTE)));
  if (limits === undefined || used === undefined) return null;
  const { storage_file_bytes: files, storage_database_bytes: database } = used;
  const reached = reachedLimits([
    ['visits', used.billable_visits.sum, limits.visitors],
    ['bandwidth', used.network_total_bytes.sum, limits.bandwidth],
    ['storage', storedBytes(files.latest.value, database.latest.value), limits.storage],
  ]);
  if (reached.length === 0) return null;
  const isOver = reached.some(({ percent }) => percent >= 100);
  const parts = reached.map(({ name, percent }) => `${percent} % of your ${name}`);
  return (
    <Notice tone={isOver ? 'bad' : 'busy'}>
      You have used {parts.join(' and ')}. <Link href={`/accounts/${accountId}/usage`}>Show the usage</Link>
    </Notice>
  );
}
