import { useMutation, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import { DELIVERIES_A_PAGE, type Delivery, useDeliveries, type Webhook } from '../../../api/webhooks.ts';
import { Button } from '../../../components/button.tsx';
import { SelectField } from '../../../components/fields.tsx';
import { useListParameters } from '../../../components/list-parameters.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { type Column, Table, TableTools, usePage } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import accountStyles from '../account.module.css';
import { answerLabel, deliveryState } from './webhook-labels.ts';
import styles from './webhooks.module.css';

const STATES = [
  { value: '', label: 'All' },
  { value: 'pending', label: 'Waiting or retrying' },
  { value: 'succeeded', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
] as const;

/** The recent deliveries of a webhook, latest first. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const { get, ask } = useListParameters();
  const asked = STATES.find(({ value }) => value === get('state'))?.value ?? '';
  const [page] = usePage();
  const deliveries = useDeliveries(webhook.id, asked === '' ? undefined : asked, page * DELIVERIES_A_PAGE);
  return (
    <Section title="Recent deliveries">
      <TableTools>
        <SelectField
          label="Status"
          name="state"
          options={STATES}
          value={asked}
          onChange={({ currentTarget }) => ask({ state: currentTarget.value })}
        />
      </TableTools>
      <Loaded query={deliveries} what="deliveries">
        {({ count, results }) =>
          results.length === 0 && page === 0 ? (
            <Empty>
              <p>
                {asked === ''
                  ? 'No deliveries yet. Send a test to see whether your receiver answers.'
                  : 'No deliveries have this status.'}
              </p>
            </Empty>
          ) : (
            <Table
              caption="Deliveries of this webhook"
              columns={columnsFor(webhook)}
              rows={results}
              rowKey={({ id }) => id}
              pageSize={DELIVERIES_A_PAGE}
              count={count}
            />
          )
        }
      </Loaded>
      <p className={accountStyles.soft}>
        Finished deliveries are kept for 30 days, at most 1,000 for each webhook.
      </p>
    </Section>
  );
}

function Redeliver({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: () =>
      unwrap(
        hosting.POST('/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', {
          params: { path: { webhook_id: webhook.id, delivery_id: delivery.id } },
        }),
      ),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['webhook', webhook.id] });
      showSuccess('Sending the event again.');
    },
    onError: showFailure,
  });
  return (
    <Button
      small
      pending={send.isPending}
      aria-label={`Redeliver ${delivery.event.type}`}
      onClick={() => send.mutate()}
    >
      Redeliver
    </Button>
  );
}

/** The receiver's last answer, with the beginning of its body. */
function Answer({ delivery }: { delivery: Delivery }) {
  const { last_attempt_at, error, response_body: body } = delivery;
  return (
    <div className={styles.answer}>
      {last_attempt_at !== null && answerLabel(delivery)}
      {error !== null && <div className={accountStyles.soft}>{error}</div>}
      {body !== null && body !== '' && (
        <details>
          <summary>Show answer</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
          <pre className={styles.body} tabIndex={0}>
            {body}
          </pre>
        </details>
      )}
    </div>
  );
}

function Status({ delivery }: { delivery: Delivery }) {
  const [label, tone] = deliveryState(delivery);
  const { next_attempt_at, state } = delivery;
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      {state === 'pending' && next_attempt_at !== null && (
        <div className={accountStyles.soft}>
          Next attempt <Time at={next_attempt_at} exact />
        </div>
      )}
    </>
  );
}

function columnsFor(webhook: Webhook): Column<Delivery>[] {
  return [
    {
      id: 'event',
      header: 'Event',
      rowHeader: true,
      cell: ({ event }) => <code>{event.type}</code>,
    },
    { id: 'at', header: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
    { id: 'status', header: 'Status', cell: (delivery) => <Status delivery={delivery} /> },
    { id: 'answer', header: 'Answer', cell: (delivery) => <Answer delivery={delivery} /> },
    { id: 'attempts', header: 'Attempts', cell: ({ attempts }) => attempts },
    {
      id: 'actions',
      header: 'Actions',
      cell: (delivery) =>
        webhook.enabled && delivery.state !== 'pending' ? (
          <Redeliver webhook={webhook} delivery={delivery} />
        ) : null,
    },
  ];
}
