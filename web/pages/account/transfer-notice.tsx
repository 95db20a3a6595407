import { Link } from 'wouter';
import { useTransfers } from '../../api/transfers.ts';
import { Notice } from '../../components/notice.tsx';
import { useMay } from '../../session/session.ts';

/** Tells about sites that other accounts offer to this one, and links to all transfers if there are any. */
export function TransferNotice({ accountId }: { accountId: string }) {
  const may = useMay(accountId);
  const { data: transfers = [] } = useTransfers(accountId, may('transfer.read'));
  if (transfers.length === 0) return null;
  const offers = transfers.filter(
    ({ destination_account, awaits_acceptance, status }) =>
      destination_account === accountId && awaits_acceptance && status === 'pending',
  ).length;
  const link = <Link href={`/accounts/${accountId}/transfers`}>Show site transfers</Link>;
  if (offers === 0) return <p>{link}</p>;
  return (
    <Notice tone="busy">
      {offers === 1 ? 'Another account offers you a site. ' : `Other accounts offer you ${offers} sites. `}
      {link}
    </Notice>
  );
}
