import { eventView } from '../events/view.ts';
import type { ShownDelivery } from './deliveries-store.ts';
import { parseFilter } from './queue-deliveries.ts';
import type { DeliveryView, WebhookView } from './schema.ts';
import type { StoredWebhook } from './store.ts';

/** A webhook as its account sees it: without its secret. */
export function presentWebhook(webhook: StoredWebhook): WebhookView {
  return {
    id: webhook.id,
    account_id: webhook.account_id,
    url: webhook.url,
    description: webhook.description,
    event_types: parseFilter(webhook.event_types),
    install_ids: parseFilter(webhook.install_ids),
    enabled: webhook.enabled,
    disabled_reason: webhook.disabled_reason,
    previous_secret_until: webhook.previous_until,
    created_at: webhook.created_at,
    updated_at: webhook.updated_at,
  };
}

export function presentDelivery({
  event_seq: _,
  event_id,
  event_type,
  account_id,
  install_id,
  data,
  event_at,
  ...delivery
}: ShownDelivery): DeliveryView {
  const event = { id: event_id, type: event_type, account_id, install_id, data, created_at: event_at };
  return { ...delivery, event: eventView(event) };
}
