import { useRecentActivity } from '../../../api/activity.ts';
import { useAccountTraffic } from '../../../api/usage.ts';
import { useMay } from '../../../session/session.ts';
import { AccountTraffic } from './account-traffic.tsx';
import { RecentActivity } from './recent-activity.tsx';

/** The traffic and the newest changes of an account. Both appear at once, so that neither moves the other. */
export function AccountHistory({ accountId }: { accountId: string }) {
  const may = useMay(accountId);
  const traffic = useAccountTraffic(accountId);
  const activity = useRecentActivity(accountId, may('activity.read'));
  if (traffic.isLoading || activity.isLoading) return null;
  return (
    <>
      <AccountTraffic accountId={accountId} />
      {may('activity.read') && <RecentActivity accountId={accountId} />}
    </>
  );
}
