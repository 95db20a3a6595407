import { idParameter, wordParameter } from '../../../api/query.ts';
import { bodyRoute, pagedRoute, type Route, route } from '../../../api/route.ts';
import {
  createWebhookSchema,
  DELIVERY_STATES,
  deliverySchema,
  updateWebhookSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from './schema.ts';
import type { WebhookService } from './service.ts';

export function webhookRoutes(webhooks: WebhookService): Route[] {
  const tag = 'Webhooks';
  const one = '/webhooks/:webhook_id' as const;
  return [
    pagedRoute({
      path: '/webhooks',
      operationId: 'listWebhooks',
      summary: 'Webhooks of your accounts',
      description: 'Lists the webhooks of the accounts in which you are an owner or full user, oldest first.',
      tag,
      errors: [400, 401, 429, 503],
      item: webhookSchema,
      filters: [idParameter('account_id')],
      handle: ({ caller, page, filters }) => webhooks.list(caller, filters.account_id, page),
    }),
    bodyRoute({
      method: 'POST',
      path: '/webhooks',
      operationId: 'createWebhook',
      summary: 'Create a webhook; the answer shows its secret once',
      description:
        'Creates a webhook. Homeport posts events to its URL, signed as Standard Webhooks says. Verify them with the secret, which only this answer shows. Requires the role owner or full.',
      link: { operationId: 'getWebhook', ids: { webhook_id: '/id' } },
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 201,
      response: webhookWithSecretSchema,
      body: { resource: 'Webhook', schema: createWebhookSchema },
      handle: ({ caller }, body) => webhooks.create(caller, body),
    }),
    route({
      method: 'GET',
      path: one,
      operationId: 'getWebhook',
      summary: 'One webhook',
      description: 'Returns one webhook without its secret.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: webhookSchema,
      handle: ({ caller, id }) => webhooks.get(caller, id('webhook_id')),
    }),
    bodyRoute({
      method: 'PATCH',
      path: one,
      operationId: 'updateWebhook',
      summary: 'Change a webhook, switch it on or off, or rotate its secret',
      description:
        'Changes the fields that the body names. `rotate_secret` makes a new secret, which the answer shows once.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 200,
      response: webhookWithSecretSchema,
      body: { resource: 'Webhook', schema: updateWebhookSchema },
      handle: ({ caller, id }, body) => webhooks.update(caller, id('webhook_id'), body),
    }),
    route({
      method: 'DELETE',
      path: one,
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook with its deliveries',
      description: 'Deletes a webhook. Deliveries that wait are not made.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => webhooks.remove(caller, id('webhook_id')),
    }),
    pagedRoute({
      path: `${one}/deliveries`,
      operationId: 'listWebhookDeliveries',
      summary: 'Deliveries of a webhook, latest first; finished ones are kept for 30 days, 1,000 at most',
      description:
        'Lists what was delivered, is waiting or has failed, with the last answer of the receiver.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      item: deliverySchema,
      filters: [wordParameter('state', DELIVERY_STATES, 'only deliveries in this state')],
      handle: ({ caller, id, page, filters }) =>
        webhooks.deliveries(
          caller,
          id('webhook_id'),
          DELIVERY_STATES.find((state) => state === filters.state),
          page,
        ),
    }),
    route({
      method: 'GET',
      path: `${one}/deliveries/:delivery_id`,
      operationId: 'getWebhookDelivery',
      summary: 'One delivery',
      description: 'Returns one delivery with its event and the last answer of the receiver.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: deliverySchema,
      handle: ({ caller, id }) => webhooks.delivery(caller, id('webhook_id'), id('delivery_id')),
    }),
    route({
      method: 'POST',
      path: `${one}/deliveries/:delivery_id/redeliver`,
      operationId: 'redeliverWebhookDelivery',
      summary: 'Deliver an event once more; the answer is the new delivery',
      description:
        'Delivers the event of a finished delivery once more, with the same `webhook-id`. It is tried once, apart from other deliveries.',
      tag,
      errors: [401, 403, 404, 409, 429, 503],
      success: 200,
      response: deliverySchema,
      handle: ({ caller, id }) => webhooks.redeliver(caller, id('webhook_id'), id('delivery_id')),
    }),
    route({
      method: 'POST',
      path: `${one}/test`,
      operationId: 'testWebhook',
      summary: 'Deliver a `webhook.test` event to this webhook alone',
      description:
        'Delivers an event of the type `webhook.test`. It is tried once; read the delivery to see the answer of the receiver.',
      tag,
      errors: [401, 403, 404, 409, 429, 503],
      success: 200,
      response: deliverySchema,
      handle: ({ caller, id }) => webhooks.test(caller, id('webhook_id')),
    }),
  ];
}
