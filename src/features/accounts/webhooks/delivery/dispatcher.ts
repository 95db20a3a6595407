import type { Queries } from '../../../../database/database.ts';
import { timestamp } from '../../../../lib/clock.ts';
import { coalesce } from '../../../../lib/concurrency.ts';
import type { Sender } from '../../../../network/webhooks/sender.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { eventView } from '../../events/view.ts';
import { RETRIED_MS, retryPauseMs } from './backoff.ts';
import { createLanes, type Lane, QUEUED_PER_LANE } from './lanes.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import {
  type DeliveredWebhook,
  findDelivered,
  retriedLanes,
  type WaitingDelivery,
  waitingAfter,
  waitingInLane,
} from './store.ts';

const LOADED_AT_ONCE = 500;
/** Requests of one webhook at the same time, so that a slow receiver cannot take up the sender; */
const CONCURRENCY = 32;
/** and after a timeout, until an answer. */
const CONCURRENCY_AFTER_TIMEOUT = 2;
/** Pause after a failure that was not the receiver's. */
const OWN_FAILURE_MS = 1_000;
const GONE = 410;

export interface DispatcherParts {
  platform: Pick<Platform, 'clock' | 'random' | 'sealer' | 'log'>;
  reader: Queries;
  sender: Sender;
  outcomes: OutcomeWriter;
  /** Whether this process may deliver: its lease is certain. */
  isLeased(): boolean;
  /** Switches the webhook off. */
  disable(webhook: DeliveredWebhook, reason: string): Promise<void>;
  /** Receives failures of the database. */
  failed(error: unknown): void;
  /** Replaces the pauses between attempts. */
  pauseMs?: typeof retryPauseMs;
}

export type Dispatcher = ReturnType<typeof createDispatcher>;

/** Makes the deliveries of one webhook, while this process has its lease. */
export function createDispatcher(webhookId: string, parts: DispatcherParts) {
  const { reader, sender, outcomes, isLeased, disable, failed, pauseMs = retryPauseMs } = parts;
  const { clock, random, sealer, log } = parts.platform;
  const lanes = createLanes();
  let webhook: DeliveredWebhook | undefined;
  let secrets: string[] = [];
  /** The sealed forms of `secrets`. */
  let opened: string[] = [];
  let loadedUpTo = 0;
  let queued = 0;
  let inFlight = 0;
  let slow = false;
  let hasMore = true;
  let ended = false;

  const load = coalesce(async () => {
    if (ended) return;
    hasMore = true;
    await refresh();
    if (loadedUpTo === 0) {
      for (const { lane, next_attempt_at } of await retriedLanes(reader, webhookId)) {
        if (next_attempt_at !== null) lanes.addFailing(lane, Date.parse(next_attempt_at));
      }
    }
    while (!ended && hasMore && queued < LOADED_AT_ONCE) {
      const found = await waitingAfter(reader, webhookId, loadedUpTo, LOADED_AT_ONCE);
      enqueue(found);
      hasMore = found.length === LOADED_AT_ONCE;
      pump();
    }
  });

  function enqueue(deliveries: readonly WaitingDelivery[]): void {
    queued += deliveries.filter((delivery) => lanes.add(delivery)).length;
    loadedUpTo = Math.max(loadedUpTo, deliveries.at(-1)?.seq ?? 0);
  }

  /** Reads the webhook again: users change it. */
  async function refresh(): Promise<void> {
    const [found] = await findDelivered(reader, [webhookId]);
    use(found);
  }

  function use(present: DeliveredWebhook | undefined): void {
    webhook = present;
    if (!webhook?.enabled) {
      ended = true;
      return;
    }
    const { sealed_secret, previous_sealed_secret: previous, previous_until: until } = webhook;
    const overlaps = previous !== null && until !== null && until > timestamp(clock);
    const sealed = [sealed_secret, ...(overlaps ? [previous] : [])];
    if (sealed.join() === opened.join()) return;
    secrets = sealed.map((one) => sealer.open(one));
    opened = sealed;
  }

  function pump(): void {
    while (
      !ended &&
      webhook &&
      isLeased() &&
      !outcomes.isFull &&
      inFlight < (slow ? CONCURRENCY_AFTER_TIMEOUT : CONCURRENCY)
    ) {
      const lane = lanes.take();
      const delivery = lane?.queue[0];
      if (!lane || !delivery) break;
      inFlight += 1;
      void deliver(webhook, lane, delivery)
        .catch(failed)
        .then(() => {
          inFlight -= 1;
          pump();
          if (hasMore && queued < LOADED_AT_ONCE / 2) load().catch(failed);
        });
    }
  }

  async function deliver(to: DeliveredWebhook, lane: Lane, delivery: WaitingDelivery): Promise<void> {
    const startedAt = clock.now();
    const { seq, once, event_id: id } = delivery;
    const body = JSON.stringify(eventView({ ...delivery, id }));
    const message = { url: to.url, id, timestamp: Math.floor(startedAt.getTime() / 1_000), body, secrets };
    const attempt = await sender.send(message).catch((error: unknown) => {
      if (!ended) log.error({ err: error, webhook: webhookId }, 'the sender of webhooks failed');
      return undefined;
    });
    if (attempt === undefined) {
      lanes.fail(lane, delivery, clock.now().getTime() + OWN_FAILURE_MS);
      return;
    }
    const attempts = delivery.attempts + 1;
    const now = clock.now().getTime();
    const firstAt = delivery.first_attempt_at ?? startedAt.toISOString();
    const isDone = attempt.error === null;
    const isGone = attempt.status === GONE && !once;
    const isOver = !isDone && !once && (isGone || now - Date.parse(firstAt) >= RETRIED_MS);
    // The last attempt stays pending until the webhook is switched off, which is then certain to happen.
    const isRetried = !isDone && !once;
    const pause = isOver ? 0 : pauseMs(attempts, attempt.retryAfterSeconds, random);
    const retryAt = isRetried ? now + pause : null;
    const next_attempt_at = retryAt === null ? null : new Date(retryAt).toISOString();
    slow = attempt.timedOut;
    outcomes.add({
      seq,
      state: isDone ? 'succeeded' : isRetried ? 'pending' : 'failed',
      attempts,
      first_attempt_at: firstAt,
      last_attempt_at: startedAt.toISOString(),
      next_attempt_at,
      response_status: attempt.status,
      response_body: attempt.responseBody,
      error: attempt.error,
      duration_ms: attempt.durationMs,
    });
    if (isOver) {
      ended = true;
      await outcomes.flush();
      await disable(to, isGone ? GONE_REASON : `${RETRIED_REASON} ${attempt.error ?? ''}`.trim());
      return;
    }
    if (retryAt !== null) {
      const { length } = lane.queue;
      lanes.fail(lane, { ...delivery, attempts, first_attempt_at: firstAt, next_attempt_at }, retryAt);
      queued -= length - 1;
      return;
    }
    queued -= 1;
    if (lanes.finish(lane)) await refill(lane);
  }

  /** Loads the next deliveries of a lane whose queue is empty. */
  async function refill(lane: Lane): Promise<void> {
    try {
      for (let isEmpty = true; isEmpty; ) {
        lane.loading = true;
        lane.more = false;
        const range = { after: lane.done, upTo: loadedUpTo, limit: QUEUED_PER_LANE };
        const found = await waitingInLane(reader, webhookId, lane.name, range);
        lane.loading = false;
        queued += found.length;
        isEmpty = lanes.refill(lane, found);
      }
    } catch (error) {
      lane.loading = false;
      lanes.addFailing(lane.name, clock.now().getTime() + OWN_FAILURE_MS);
      throw error;
    }
    pump();
  }

  return {
    webhookId,
    /** Loads deliveries that wait, and changes to the webhook. */
    load,
    /** Makes new deliveries, which follow all others of the webhook. `present`: the webhook after they were committed. */
    async accept(
      present: DeliveredWebhook | undefined,
      deliveries: readonly WaitingDelivery[],
    ): Promise<void> {
      // Earlier ones wait in the database, or are being loaded.
      if (hasMore) return load();
      use(present);
      enqueue(deliveries.filter(({ seq }) => seq > loadedUpTo));
      pump();
    },
    /** Makes the retries that are due. */
    async tick(): Promise<void> {
      const unloaded = lanes.due(clock.now().getTime());
      if (lanes.size > 0) await refresh();
      for (const lane of unloaded) await refill(lane);
      pump();
    },
    pump,
    /** Whether nothing waits that could be delivered before a retry is due. */
    get isIdle() {
      return inFlight === 0 && lanes.size === 0;
    },
    get hasEnded() {
      return ended && inFlight === 0;
    },
    get inFlight() {
      return inFlight;
    },
    /** Starts no further delivery. */
    end(): void {
      ended = true;
    },
  };
}

const GONE_REASON = 'The receiver answered 410 Gone.';
const RETRIED_REASON = 'Deliveries failed for 3 days. The last attempt:';
