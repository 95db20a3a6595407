import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Link } from 'wouter';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import { useWebhooks, type Webhook } from '../../../api/webhooks.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Page, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useMay } from '../../../session/session.ts';
import accountStyles from '../account.module.css';
import { SecretShown } from './secret-shown.tsx';
import { WebhookForm, type WebhookSettings } from './webhook-form.tsx';
import { eventsLabel, installsLabel } from './webhook-labels.ts';
import { WebhookStatus } from './webhook-status.tsx';

type Making = { at: 'form' } | { at: 'secret'; secret: string };

/** The webhooks of an account. */
export function WebhooksPage({ accountId }: { accountId: string }) {
  const may = useMay(accountId)('webhook.manage');
  const [making, setMaking] = useState<Making | null>(null);
  const opener = useRef<HTMLButtonElement>(null);

  function close() {
    // Renders the button before it takes the focus back.
    flushSync(() => setMaking(null));
    opener.current?.focus();
  }

  return (
    <Page
      title="Webhooks"
      subtitle="Webhooks send the events of this account to your programs."
      actions={
        may && making === null ? (
          <Button ref={opener} variant="primary" onClick={() => setMaking({ at: 'form' })}>
            Create webhook
          </Button>
        ) : undefined
      }
    >
      {!may && <p>Only owners and full users see the webhooks of this account.</p>}
      {may && making?.at === 'form' && (
        <NewWebhook
          accountId={accountId}
          onCreated={(secret) => setMaking({ at: 'secret', secret })}
          onCancel={close}
        />
      )}
      {making?.at === 'secret' && <SecretShown secret={making.secret} onKept={close} />}
      {may && <Webhooks accountId={accountId} />}
    </Page>
  );
}

function NewWebhook({
  accountId,
  onCreated,
  onCancel,
}: {
  accountId: string;
  onCreated(secret: string): void;
  onCancel(): void;
}) {
  const queries = useQueryClient();

  async function create(settings: WebhookSettings) {
    const { secret } = await unwrap(
      hosting.POST('/webhooks', { body: { account_id: accountId, ...settings } }),
    );
    await queries.invalidateQueries({ queryKey: ['webhook', accountId] });
    showSuccess('Created the webhook.');
    onCreated(secret ?? '');
  }

  return (
    <Section title="Create a webhook">
      <WebhookForm accountId={accountId} webhook={null} onSubmit={create} onCancel={onCancel} />
    </Section>
  );
}

function Webhooks({ accountId }: { accountId: string }) {
  const webhooks = useWebhooks(accountId, true);
  return (
    <Loaded query={webhooks} what="webhooks">
      {(all) =>
        all.length === 0 ? (
          <Empty>
            <p>No webhooks yet. Create one to receive the events of this account in a program.</p>
          </Empty>
        ) : (
          <Table caption="Webhooks" columns={COLUMNS} rows={all} rowKey={({ id }) => id} />
        )
      }
    </Loaded>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    id: 'url',
    header: 'Webhook',
    rowHeader: true,
    sortBy: ({ description, url }) => description || url,
    cell: ({ id, account_id, url, description }) => (
      <span className={accountStyles.named}>
        <Link href={`/accounts/${account_id}/webhooks/${id}`}>{description || url}</Link>
        {description !== '' && <span className={accountStyles.soft}>{url}</span>}
      </span>
    ),
  },
  { id: 'events', header: 'Events', cell: ({ event_types }) => eventsLabel(event_types) },
  { id: 'installs', header: 'Installs', cell: ({ install_ids }) => installsLabel(install_ids) },
  {
    id: 'status',
    header: 'Status',
    sortBy: ({ enabled }) => Number(enabled),
    cell: (webhook) => <WebhookStatus webhook={webhook} />,
  },
  {
    id: 'created',
    header: 'Created',
    sortBy: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];
