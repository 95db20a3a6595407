import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { hosting } from '../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../api/failure.ts';
import { isOpen, type Transfer, useTransfers } from '../../api/transfers.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Badge, type Tone } from '../../components/notice.tsx';
import { Empty, Page } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useMay } from '../../session/session.ts';
import styles from './account.module.css';

type Answer = 'accept' | 'decline' | 'cancel';

/** The site transfers from and to an account. Owners answer them here. */
export function TransfersPage({ accountId }: { accountId: string }) {
  const may = useMay(accountId);
  const transfers = useTransfers(accountId, may('transfer.read'));
  const [asked, setAsked] = useState<{ transfer: Transfer; answer: Answer } | null>(null);
  const columns: Column<Transfer>[] = [
    ...columnsFor(accountId),
    {
      id: 'actions',
      header: 'Actions',
      cell: (transfer) => (
        <Actions
          answers={may('site.transfer') ? answersTo(transfer, accountId) : []}
          site={transfer.site_name}
          onChoose={(answer) => setAsked({ transfer, answer })}
        />
      ),
    },
  ];
  return (
    <Page
      title="Site transfers"
      subtitle={
        <>
          <Link href={`/accounts/${accountId}/sites`}>Sites</Link> · transfers from and to this account
        </>
      }
    >
      {may('transfer.read') ? (
        <Loaded query={transfers} what="site transfers">
          {(all) =>
            all.length === 0 ? (
              <Empty>
                <p>No site transfers yet. Owners transfer a site from its page.</p>
              </Empty>
            ) : (
              <Table caption="Site transfers" columns={columns} rows={all} rowKey={({ id }) => id} />
            )
          }
        </Loaded>
      ) : (
        <p>Only owners and full users see the site transfers of this account.</p>
      )}
      <AnswerDialog accountId={accountId} asked={asked} onClose={() => setAsked(null)} />
    </Page>
  );
}

/** Actions that an owner of this account has on a transfer. */
function answersTo(transfer: Transfer, accountId: string): Answer[] {
  if (!isOpen(transfer)) return [];
  if (transfer.origin_account === accountId) return ['cancel'];
  return transfer.awaits_acceptance ? ['accept', 'decline'] : ['decline'];
}

const LABELS: Record<Answer, string> = { accept: 'Accept', decline: 'Decline', cancel: 'Cancel transfer' };

function Actions({
  answers,
  site,
  onChoose,
}: {
  answers: readonly Answer[];
  site: string;
  onChoose(answer: Answer): void;
}) {
  return answers.map((answer) => (
    <Button key={answer} small aria-label={`${LABELS[answer]}: ${site}`} onClick={() => onChoose(answer)}>
      {LABELS[answer]}
    </Button>
  ));
}

function AnswerDialog({
  accountId,
  asked,
  onClose,
}: {
  accountId: string;
  asked: { transfer: Transfer; answer: Answer } | null;
  onClose(): void;
}) {
  const queries = useQueryClient();
  // Keeps its text until the dialog has closed.
  const [shown, setShown] = useState(asked);
  if (asked !== null && asked !== shown) setShown(asked);
  if (shown === null) return null;
  const { transfer, answer } = shown;
  const { site, site_name: name, id } = transfer;

  async function confirm() {
    if (answer === 'accept') {
      await unwrap(
        hosting.POST('/accounts/{account_id}/site_transfers/{transfer_id}/accept', {
          params: { path: { account_id: accountId, transfer_id: id } },
        }),
      );
    } else {
      await unwrapEmpty(
        hosting.DELETE('/sites/{site_id}/site_transfers/{transfer_id}', {
          params: { path: { site_id: site, transfer_id: id } },
        }),
      );
    }
    await queries.invalidateQueries({ queryKey: ['transfer'] });
    showSuccess(SUCCESS[answer](name));
  }

  return (
    <ConfirmDialog
      open={asked !== null}
      onOpenChange={(open) => open || onClose()}
      title={TITLES[answer](name)}
      description={<Consequences transfer={transfer} answer={answer} />}
      confirmLabel={LABELS[answer]}
      onConfirm={confirm}
    />
  );
}

const TITLES: Record<Answer, (name: string) => string> = {
  accept: (name) => `Accept the site ${name}?`,
  decline: (name) => `Decline the site ${name}?`,
  cancel: (name) => `Cancel the transfer of ${name}?`,
};

const SUCCESS: Record<Answer, (name: string) => string> = {
  accept: (name) => `Accepted the site ${name}.`,
  decline: (name) => `Declined the site ${name}.`,
  cancel: (name) => `Cancelled the transfer of ${name}.`,
};

function Consequences({ transfer, answer }: { transfer: Transfer; answer: Answer }) {
  if (answer !== 'accept') return <p>The site stays in its account.</p>;
  const { origin_account_name: origin, install_names: names, scheduled_time: at } = transfer;
  return (
    <>
      <p>
        The account {origin} transfers this site{names.length > 0 && ` with ${names.join(', ')}`} to your
        account
        {at === null ? '' : ', not before the scheduled time'}. Your account is responsible for it from then
        on.
      </p>
      <p>The websites keep running. Review their WordPress users afterwards: they do not change.</p>
    </>
  );
}

const TONES: Record<Transfer['status'], Tone> = {
  pending: 'busy',
  scheduled: 'busy',
  in_progress: 'busy',
  completed: 'good',
  failed: 'bad',
  cancelled: 'plain',
};

function statusLabel({ status, awaits_acceptance }: Transfer): string {
  if (status === 'pending') return awaits_acceptance ? 'Waiting for acceptance' : 'Pending';
  const words = status.replace('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function columnsFor(accountId: string): Column<Transfer>[] {
  const isOutgoing = ({ origin_account }: Transfer) => origin_account === accountId;
  return [
    {
      id: 'site',
      header: 'Site',
      rowHeader: true,
      sortBy: ({ site_name }) => site_name,
      cell: ({ site_name, install_names }) => (
        <span className={styles.named}>
          <strong>{site_name}</strong>
          <span className={styles.soft}>{install_names.join(', ') || 'No installs'}</span>
        </span>
      ),
    },
    {
      id: 'account',
      header: 'Other account',
      cell: (transfer) =>
        isOutgoing(transfer)
          ? `To ${transfer.destination_account_name ?? transfer.destination_account}`
          : `From ${transfer.origin_account_name}`,
    },
    {
      id: 'status',
      header: 'Status',
      sortBy: statusLabel,
      cell: (transfer) => (
        <span className={styles.named}>
          <span>
            <Badge tone={TONES[transfer.status]}>{statusLabel(transfer)}</Badge>
          </span>
          {transfer.reason !== null && <span className={styles.soft}>{transfer.reason}</span>}
          {isOpen(transfer) && transfer.scheduled_time !== null && (
            <span className={styles.soft}>
              Not before <Time at={transfer.scheduled_time} exact />
            </span>
          )}
        </span>
      ),
    },
    {
      id: 'created',
      header: 'Requested',
      sortBy: ({ created_at }) => created_at,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
  ];
}
