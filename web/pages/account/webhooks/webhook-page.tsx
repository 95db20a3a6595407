import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Link } from 'wouter';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import { useInstallsById } from '../../../api/install-list.ts';
import { useWebhook, type Webhook } from '../../../api/webhooks.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { isNotFound, NotFound } from '../../../components/not-found.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Facts, Page, Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { Deliveries } from './deliveries.tsx';
import { eventChoicesOf } from './event-types.ts';
import { SecretShown } from './secret-shown.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { WebhookStatus } from './webhook-status.tsx';
import styles from './webhooks.module.css';

/** One webhook of an account: its settings and its deliveries. */
export function WebhookPage({ accountId, webhookId }: { accountId: string; webhookId: string }) {
  const webhook = useWebhook(webhookId);
  if (isNotFound(webhook.error) || (webhook.data && webhook.data.account_id !== accountId)) {
    return <NotFound what="Webhook" />;
  }
  return (
    <Loaded query={webhook} what="the webhook" page>
      {(found) => <Shown webhook={found} />}
    </Loaded>
  );
}

type Doing = { at: 'edit' } | { at: 'secret'; secret: string };

function Shown({ webhook }: { webhook: Webhook }) {
  const [doing, setDoing] = useState<Doing | null>(null);
  const actions = useRef<HTMLButtonElement>(null);

  function close() {
    // Renders the button before it takes the focus back.
    flushSync(() => setDoing(null));
    actions.current?.focus();
  }

  return (
    <Page
      title={webhook.description || new URL(webhook.url).host}
      subtitle={
        <>
          <Link href={`/accounts/${webhook.account_id}/webhooks`}>Webhooks</Link> · webhook of this account
        </>
      }
      actions={
        doing === null ? (
          <WebhookActions
            webhook={webhook}
            editButton={actions}
            onEdit={() => setDoing({ at: 'edit' })}
            onSecret={(secret) => setDoing({ at: 'secret', secret })}
          />
        ) : undefined
      }
    >
      {!webhook.enabled && webhook.disabled_reason !== null && (
        <Notice tone="bad" title="Homeport switched this webhook off.">
          <p>{webhook.disabled_reason} Repair the receiver, then switch the webhook on.</p>
        </Notice>
      )}
      {doing?.at === 'secret' && <SecretShown secret={doing.secret} rotated onKept={close} />}
      {doing?.at === 'edit' ? <Edit webhook={webhook} onEnd={close} /> : <Settings webhook={webhook} />}
      <Deliveries webhook={webhook} />
    </Page>
  );
}

function Settings({ webhook }: { webhook: Webhook }) {
  const { event_types: types, install_ids: ids, previous_secret_until: until, created_at } = webhook;
  const { data: installs } = useInstallsById(webhook.account_id, ids ?? []);
  const isLoading = ids !== null && ids.length > 0 && installs === undefined;
  const names = installs?.map(({ name }) => name).join(', ') || 'None that still exist';
  return (
    <Section title="Settings">
      <Facts
        facts={[
          [
            'URL',
            <code key="url" className={styles.url}>
              {webhook.url}
            </code>,
          ],
          ['Status', <WebhookStatus key="status" webhook={{ ...webhook, disabled_reason: null }} />],
          [
            'Events',
            types === null ? (
              'All'
            ) : (
              <span key="types" className={styles.typesList}>
                {eventChoicesOf(types).map((type) => (
                  <code key={type}>{type}</code>
                ))}
              </span>
            ),
          ],
          ['Installs', ids === null ? 'All' : isLoading ? 'Loading…' : names],
          ['Created', <Time key="created" at={created_at} exact />],
          ...(until !== null && Date.parse(until) > Date.now()
            ? [['Previous secret', <PreviousSecret key="previous" until={until} />] as const]
            : []),
        ]}
      />
    </Section>
  );
}

function PreviousSecret({ until }: { until: string }) {
  return (
    <>
      Also signs events until <Time at={until} exact />
    </>
  );
}

function Edit({ webhook, onEnd }: { webhook: Webhook; onEnd(): void }) {
  // Later changes name installs that exist, and must not replace the form.
  const [ids] = useState(webhook.install_ids ?? []);
  const installs = useInstallsById(webhook.account_id, ids);
  const queries = useQueryClient();

  const form = (known: readonly { id: string }[]) => (
    <WebhookForm
      accountId={webhook.account_id}
      webhook={webhook}
      goneInstalls={new Set(ids.filter((id) => !known.some((install) => install.id === id)))}
      onSubmit={async (_settings, body, header) => {
        const params = { path: { webhook_id: webhook.id }, header };
        await unwrap(hosting.PATCH('/webhooks/{webhook_id}', { params, body }));
        await queries.invalidateQueries({ queryKey: ['webhook'] });
        showSuccess('Saved the webhook.');
        onEnd();
      }}
      onCancel={onEnd}
    />
  );
  return (
    <Section title="Edit webhook">
      {ids.length > 0 ? (
        <Loaded query={installs} what="installs">
          {form}
        </Loaded>
      ) : (
        form([])
      )}
    </Section>
  );
}
