import { PLATFORM } from '../../../../access/caller.ts';
import { findOwners } from '../../../../access/owners.ts';
import { timestamp } from '../../../../lib/clock.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { failPendingDeliveries } from '../deliveries-store.ts';
import { sendWebhookDisabled } from '../jobs.ts';
import { lockWebhook, nameOfAccount, updateWebhook } from '../store.ts';
import type { DeliveredWebhook } from './store.ts';

const SWITCHED_OFF = 'The webhook was switched off before this delivery.';

/** Switches a webhook off: its deliveries fail, and the owners get a mail. */
export async function disableWebhook(
  { database, queue, activity, clock }: Pick<Platform, 'database' | 'queue' | 'activity' | 'clock'>,
  { id }: Pick<DeliveredWebhook, 'id'>,
  reason: string,
): Promise<void> {
  await database.write(async (transaction) => {
    const { queries } = transaction;
    const webhook = await lockWebhook(transaction, id);
    if (!webhook?.enabled) return;
    const { account_id, url } = webhook;
    const { host } = new URL(url);
    await updateWebhook(queries, id, {
      enabled: false,
      disabled_reason: reason,
      updated_at: timestamp(clock),
    });
    await failPendingDeliveries(queries, id, SWITCHED_OFF);
    await activity.record(transaction, PLATFORM, account_id, {
      action: 'webhook.disable',
      subject: { id, name: host },
      details: { reason },
    });
    const account = (await nameOfAccount(queries, account_id)) ?? '';
    for (const { user_id, email, first_name } of await findOwners(queries, account_id, 'webhooks')) {
      await queue.enqueue(transaction, sendWebhookDisabled, {
        payload: { user_id, to: email, first_name, account_id, webhook_id: id, account, host, reason },
        lane: null,
        account: account_id,
      });
    }
  });
}
