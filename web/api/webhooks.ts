import { useQuery } from '@tanstack/react-query';
import { allPages } from './all-pages.ts';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';
import { POLL_MS } from './queries.ts';

export type Webhook = BodyOf<HostingPaths['/webhooks/{webhook_id}']['get']>;
export type WebhookWithSecret = BodyOf<HostingPaths['/webhooks/{webhook_id}']['patch']>;
export type Delivery = BodyOf<HostingPaths['/webhooks/{webhook_id}/deliveries/{delivery_id}']['get']>;
export type EventType = Delivery['event']['type'];

export const DELIVERIES_A_PAGE = 25;

/** Polling interval for new deliveries, which come from any change in the account. */
const NEW_DELIVERIES_MS = 10_000;

/** Loads the webhooks of an account, oldest first. With `enabled` false, sends no request. */
export function useWebhooks(accountId: string, enabled: boolean) {
  return useQuery({
    queryKey: ['webhook', accountId],
    enabled,
    queryFn: () =>
      allPages((page) =>
        unwrap(hosting.GET('/webhooks', { params: { query: { account_id: accountId, ...page } } })),
      ),
  });
}

export function useWebhook(webhookId: string) {
  return useQuery({
    queryKey: ['webhook', webhookId],
    queryFn: () =>
      unwrap(hosting.GET('/webhooks/{webhook_id}', { params: { path: { webhook_id: webhookId } } })),
  });
}

/** Loads one page of the deliveries of a webhook, latest first. Polls, faster while one waits. */
export function useDeliveries(webhookId: string, state: Delivery['state'] | undefined, offset: number) {
  return useQuery({
    queryKey: ['webhook', webhookId, 'deliveries', state, offset],
    refetchInterval: ({ state: { data } }) =>
      data?.results.some((delivery) => delivery.state === 'pending') ? POLL_MS : NEW_DELIVERIES_MS,
    queryFn: () =>
      unwrap(
        hosting.GET('/webhooks/{webhook_id}/deliveries', {
          params: {
            path: { webhook_id: webhookId },
            query: { limit: DELIVERIES_A_PAGE, offset, ...(state && { state }) },
          },
        }),
      ),
  });
}
