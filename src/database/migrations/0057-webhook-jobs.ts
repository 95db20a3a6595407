import type { ColumnTypes } from './column-types.ts';

/** Webhooks are delivered by jobs, one for each lane with deliveries that wait, in place of leases (docs/decisions/events.md). */
export function webhookJobs(_types: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  const isSqlite = dialect === 'sqlite';
  const hex = (bytes: number) => `lower(hex(randomblob(${bytes})))`;
  const id = isSqlite
    ? `${hex(4)} || '-' || ${hex(2)} || '-4' || substr(${hex(2)}, 2) || '-8' || substr(${hex(2)}, 2) || '-' || ${hex(6)}`
    : 'gen_random_uuid()';
  const payload = isSqlite ? 'json_object' : 'jsonb_build_object';
  // The first delivery of a lane is the only one that is retried.
  return [
    `insert into jobs (id, kind, lane, payload, share, max_attempts, run_at, created_at)
      select ${id}, 'deliver_webhook', 'deliver_webhook ' || webhook.id || ' ' || delivery.lane,
        ${payload}('webhook_id', webhook.id, 'lane', delivery.lane, 'account_id', webhook.account_id),
        webhook.account_id${isSqlite ? '' : '::text'}, 20,
        coalesce(max(delivery.next_attempt_at), min(delivery.created_at)), min(delivery.created_at)
      from webhook_deliveries as delivery join webhooks as webhook on webhook.id = delivery.webhook_id
      where delivery.state = 'pending'
      group by webhook.id, webhook.account_id, delivery.lane`,
    'alter table webhooks drop column lease_holder',
    'alter table webhooks drop column lease_until',
  ];
}
