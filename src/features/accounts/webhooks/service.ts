import type { Caller } from '../../../access/caller.ts';
import { findMembership, loadScope } from '../../../access/memberships.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor, readerFor } from '../../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { DeliveryState } from '../../../database/tables/events.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { Conflict, type Fault, InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import { createAddressPolicy } from '../../../network/probe/address-policy.ts';
import type { Action } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { EventPlacement } from '../events/placement.ts';
import { insertEvent, lockEventLog } from '../events/store.ts';
import {
  countPending,
  failPendingDeliveries,
  findDelivery,
  insertDeliveries,
  pageOfDeliveries,
} from './deliveries-store.ts';
import { deliverWebhook, jobOfLane } from './jobs.ts';
import type { CreateWebhook, DeliveryView, UpdateWebhook, WebhookView, WebhookWithSecret } from './schema.ts';
import {
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  installsOfAccount,
  lockWebhook,
  pageOfWebhooks,
  type StoredWebhook,
  updateWebhook,
} from './store.ts';
import { requireTarget } from './target.ts';
import { presentDelivery, presentWebhook } from './view.ts';

/** Webhooks of one account. */
export const MAX_WEBHOOKS = 10;
/** How long the secret before a rotation signs too. */
export const OVERLAP_MS = DAY_MS;
/** Deliveries of a webhook that wait. With more, no test or redelivery is added. */
const MAX_WAITING = 10_000;
const SECRET_BYTES = 32;
const SWITCHED_OFF = 'The webhook was switched off before this delivery.';

export type WebhookService = ReturnType<typeof createWebhookService>;

/** The webhooks of accounts (docs/api.md, Events and webhooks). */
export function createWebhookService(
  {
    config,
    database,
    queue,
    activity,
    clock,
    random,
    sealer,
  }: Pick<Platform, 'config' | 'database' | 'queue' | 'activity' | 'clock' | 'random' | 'sealer'>,
  placement: EventPlacement,
) {
  const { reader } = database;
  const rules = {
    allowHttp: config.webhookHttp,
    mayContact: createAddressPolicy(config.allowPrivateTargets),
  };
  const newSecret = () => `whsec_${random.bytes(SECRET_BYTES).toString('base64')}`;

  /** The webhook, if the caller may manage it. Throws NotFound, so that a webhook of others is unknown. */
  async function require(
    queries: Queries,
    caller: Caller,
    webhook: StoredWebhook | undefined,
  ): Promise<StoredWebhook> {
    if (!webhook) throw new NotFound();
    const member = await findMembership(queries, caller, webhook.account_id);
    authorize('webhook.manage', 'webhook.manage', { role: member?.role ?? null, own: false });
    return webhook;
  }
  async function find(caller: Caller, id: string): Promise<StoredWebhook> {
    const queries = readerFor(database, caller);
    return require(queries, caller, await findWebhook(queries, id));
  }

  async function record(
    transaction: Transaction,
    caller: Caller,
    action: Action,
    { id, account_id, url }: Pick<StoredWebhook, 'id' | 'account_id' | 'url'>,
    details?: Record<string, string | number | boolean | null>,
  ): Promise<void> {
    // The path of a URL can be a secret of the receiver.
    const subject = { id, name: new URL(url).host };
    await activity.record(transaction, caller, account_id, {
      action,
      subject,
      ...(details && { details }),
    });
  }

  /** Queues a delivery that is tried once, in a separate lane. Returns its id. */
  async function queueOnce(
    transaction: Transaction,
    { id: webhookId, account_id }: Pick<StoredWebhook, 'id' | 'account_id'>,
    eventSeq: number,
  ): Promise<string> {
    const { queries } = transaction;
    if ((await countPending(queries, webhookId, MAX_WAITING)) >= MAX_WAITING) {
      throw new Conflict('Too many deliveries of this webhook are waiting');
    }
    const id = random.uuid();
    const created_at = timestamp(clock);
    const lane = `once:${id}`;
    await insertDeliveries(queries, [
      { id, webhook_id: webhookId, event_seq: eventSeq, lane, once: true, created_at },
    ]);
    await queue.ensure(transaction, deliverWebhook, jobOfLane({ webhook_id: webhookId, lane, account_id }));
    return id;
  }

  async function oneDelivery(webhookId: string, id: string): Promise<DeliveryView> {
    const delivery = await findDelivery(reader, webhookId, id);
    if (!delivery) throw new NotFound();
    return presentDelivery(delivery);
  }

  return {
    /** The webhooks that the caller may manage, of all accounts or one. */
    async list(
      caller: Caller,
      accountId: string | undefined,
      page: PageRequest,
    ): Promise<PageOf<WebhookView>> {
      const scope = await loadScope(reader, caller, accountId);
      const accounts = scope.installIds === null ? scope.whole.map(({ account_id }) => account_id) : [];
      const { count, results } = await pageOfWebhooks(reader, accounts, page);
      return { count, results: results.map(presentWebhook) };
    },

    /** Throws NotFound. */
    get: async (caller: Caller, id: string): Promise<WebhookView> => presentWebhook(await find(caller, id)),

    /** Returns the webhook with its secret. Throws InvalidRequest, Forbidden. */
    async create(caller: Caller, wanted: CreateWebhook): Promise<WebhookWithSecret> {
      const accountId = wanted.account_id.toLowerCase();
      const id = random.uuid();
      const secret = newSecret();
      const created = await changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'accounts', accountId);
        // Events from before are not for this webhook.
        await placement.placeWithin(transaction);
        const member = await findMembership(queries, caller, accountId);
        if (!member) throw new InvalidRequest(NO_ACCOUNT.message, [NO_ACCOUNT]);
        authorize('webhook.manage', 'account.read', { role: member.role, own: false });
        const url = requireTarget(wanted.url, rules);
        const installs = await requireInstalls(queries, accountId, wanted.install_ids);
        if ((await countWebhooks(queries, accountId)) >= MAX_WEBHOOKS) throw tooMany();
        const now = timestamp(clock);
        await insertWebhook(queries, {
          id,
          account_id: accountId,
          url,
          description: wanted.description?.trim() ?? '',
          event_types: stored(wanted.event_types ?? null),
          install_ids: stored(installs),
          sealed_secret: sealer.seal(secret),
          created_at: now,
          updated_at: now,
        });
        await record(transaction, caller, 'webhook.create', { id, account_id: accountId, url });
        return findWebhook(queries, id);
      });
      if (!created) throw new NotFound();
      return { ...presentWebhook(created), secret };
    },

    /** Returns the webhook, and its secret if it was rotated. Throws NotFound, InvalidRequest. */
    async update(caller: Caller, id: string, wanted: UpdateWebhook): Promise<WebhookWithSecret> {
      const secret = wanted.rotate_secret === true ? newSecret() : undefined;
      const changed = await changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        // Before the lock of the log, like a conditional request.
        const present = await require(queries, caller, await lockWebhook(transaction, id));
        // Events from before are judged by the settings from before.
        await placement.placeWithin(transaction);
        const url = wanted.url === undefined ? present.url : requireTarget(wanted.url, rules);
        const installs = await requireInstalls(queries, present.account_id, wanted.install_ids);
        const enabled = wanted.enabled ?? present.enabled;
        const now = timestamp(clock);
        await updateWebhook(queries, id, {
          url,
          enabled,
          ...(enabled ? { disabled_reason: null } : {}),
          ...(wanted.description === undefined ? {} : { description: wanted.description.trim() }),
          ...(wanted.event_types === undefined ? {} : { event_types: stored(wanted.event_types) }),
          ...(wanted.install_ids === undefined ? {} : { install_ids: stored(installs) }),
          ...(secret === undefined
            ? {}
            : {
                sealed_secret: sealer.seal(secret),
                previous_sealed_secret: present.sealed_secret,
                previous_until: timestamp(clock, OVERLAP_MS),
              }),
          updated_at: now,
        });
        if (!enabled) await failPendingDeliveries(queries, id, SWITCHED_OFF);
        await record(
          transaction,
          caller,
          'webhook.update',
          { ...present, url },
          {
            ...(enabled === present.enabled ? {} : { enabled }),
            ...(secret === undefined ? {} : { secret_rotated: true }),
          },
        );
        return findWebhook(queries, id);
      });
      if (!changed) throw new NotFound();
      return { ...presentWebhook(changed), ...(secret === undefined ? {} : { secret }) };
    },

    /** Throws NotFound. */
    remove: (caller: Caller, id: string): Promise<void> =>
      changeFor(database, caller, async (transaction) => {
        const present = await require(transaction.queries, caller, await lockWebhook(transaction, id));
        await deleteWebhook(transaction.queries, id);
        await record(transaction, caller, 'webhook.delete', present);
      }),

    /** Deliveries of a webhook, latest first. Throws NotFound. */
    async deliveries(
      caller: Caller,
      id: string,
      state: DeliveryState | undefined,
      page: PageRequest,
    ): Promise<PageOf<DeliveryView>> {
      await find(caller, id);
      const { count, results } = await pageOfDeliveries(reader, id, state, page);
      return { count, results: results.map(presentDelivery) };
    },

    /** Throws NotFound. */
    async delivery(caller: Caller, id: string, deliveryId: string): Promise<DeliveryView> {
      await find(caller, id);
      return oneDelivery(id, deliveryId);
    },

    /** Delivers an event once more, with the same id. Returns the new delivery. Throws NotFound, Conflict. */
    async redeliver(caller: Caller, id: string, deliveryId: string): Promise<DeliveryView> {
      const queued = await changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        const webhook = await require(queries, caller, await lockWebhook(transaction, id));
        await lockEventLog(transaction);
        const delivery = await findDelivery(queries, id, deliveryId);
        if (!delivery) throw new NotFound();
        if (!webhook.enabled) throw isOff();
        if (delivery.state === 'pending') throw new Conflict('This delivery is still waiting');
        await record(transaction, caller, 'webhook.redeliver', webhook, { event: delivery.event_type });
        return queueOnce(transaction, webhook, delivery.event_seq);
      });
      return oneDelivery(id, queued);
    },

    /** Delivers an event `webhook.test` to this webhook alone. Returns the delivery. Throws NotFound, Conflict. */
    async test(caller: Caller, id: string): Promise<DeliveryView> {
      const queued = await changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        const webhook = await require(queries, caller, await lockWebhook(transaction, id));
        await lockEventLog(transaction);
        if (!webhook.enabled) throw isOff();
        const seq = await insertEvent(queries, {
          id: random.uuid(),
          type: 'webhook.test',
          account_id: webhook.account_id,
          install_id: null,
          data: { webhook_id: id },
          created_at: timestamp(clock),
        });
        await record(transaction, caller, 'webhook.test', webhook);
        return queueOnce(transaction, webhook, seq);
      });
      return oneDelivery(id, queued);
    },
  };
}

const stored = (values: readonly string[] | null): string | null =>
  values === null ? null : JSON.stringify(values);

async function requireInstalls(
  queries: Queries,
  accountId: string,
  wanted: readonly string[] | null | undefined,
): Promise<string[] | null> {
  if (!wanted) return null;
  const ids = [...new Set(wanted.map((id) => id.toLowerCase()))];
  const known = await installsOfAccount(queries, accountId, ids);
  const faults = ids.flatMap((id, index) => (known.has(id) ? [] : [foreignInstall(index)]));
  const [first] = faults;
  if (first) throw new InvalidRequest(first.message, faults);
  return ids;
}

const NO_ACCOUNT: Fault = {
  resource: 'Webhook',
  field: 'account_id',
  type: 'access_error',
  code: 'not_permitted',
  message: 'You are not in this account',
};

function foreignInstall(index: number): Fault {
  return {
    resource: 'Webhook',
    field: `install_ids.${index}`,
    type: 'access_error',
    code: 'not_permitted',
    message: 'The account has no such install',
  };
}

const tooMany = () =>
  new InvalidRequest(
    `The account has reached the limit of ${MAX_WEBHOOKS} webhooks. Delete one that you no longer need`,
  );

const isOff = () => new Conflict('The webhook is switched off. Switch it on first');
