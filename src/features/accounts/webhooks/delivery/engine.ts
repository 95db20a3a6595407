import { timestamp } from '../../../../lib/clock.ts';
import { coalesce, type Repetition, repeatEvery } from '../../../../lib/concurrency.ts';
import type { Sender } from '../../../../network/webhooks/sender.ts';
import type { Platform } from '../../../../platform/platform.ts';
import type { EventPlacement } from '../../events/placement.ts';
import type { retryPauseMs } from './backoff.ts';
import { disableWebhook } from './disabling.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import {
  deliveriesAfter,
  findDelivered,
  lastDelivery,
  leaseWebhooks,
  type NewDelivery,
  pruneDeliveries,
  releaseWebhooks,
  unleasedWebhooks,
} from './store.ts';

/** Times in milliseconds. */
export interface EngineTimes {
  /** Interval of looking for due retries, abandoned webhooks and events without notification. */
  tickMs: number;
  leaseMs: number;
  heartbeatMs: number;
  /** A webhook without deliveries is released after this time, so that another process can take it. */
  idleMs: number;
}

const TIMES: EngineTimes = { tickMs: 1_000, leaseMs: 15_000, heartbeatMs: 5_000, idleMs: 30_000 };
/** Clocks of machines may differ by this part of a lease. */
const CERTAIN_PART = 0.7;
/** Notifications within this time are one. */
const GATHER_MS = 10;
/** Least time between two looks at new deliveries, because each look costs as much for many as for one. */
const PACE_MS = 30;
const ACCEPTED_AT_ONCE = 1_000;
const CLAIMED_AT_ONCE = 200;
/** Finished deliveries kept for each webhook. */
const KEPT_DELIVERIES = 1_000;
/** Interval of deleting older ones. */
const PRUNE_MS = 60_000;

export interface WebhookEngine {
  start(): Promise<void>;
  /** Waits for the deliveries in progress, stores their outcomes, and gives the leases back. */
  stop(graceMs: number): Promise<void>;
}

interface Owned {
  dispatcher: Dispatcher;
  idleSince: number | null;
  prunedAt: number;
}

/**
 * Places events and delivers them to webhooks. Processes share the webhooks by leases: one process at a time delivers for a webhook,
 * which keeps the order (docs/decisions/events.md).
 */
export function createWebhookEngine(
  platform: Pick<Platform, 'database' | 'queue' | 'activity' | 'clock' | 'random' | 'sealer' | 'log'>,
  parts: { placement: EventPlacement; sender: Sender; pauseMs?: typeof retryPauseMs },
  times = TIMES,
): WebhookEngine {
  const { database, clock, random, log } = platform;
  const { reader } = database;
  const { placement, sender } = parts;
  const holder = random.uuid();
  const owned = new Map<string, Owned>();
  /** Until when the leases are certain, on this process's monotonic clock. */
  let certainUntil = 0;
  let heartbeatAt = 0;
  let lastSeen = 0;
  /** When it last looked for new deliveries. */
  let wokenAt = 0;
  let failing = false;
  let stopping = false;
  let unsubscribe = () => {};
  let waking: NodeJS.Timeout | undefined;
  let ticking: Repetition | undefined;

  const outcomes = createOutcomeWriter({ database, log }, () => {
    for (const { dispatcher } of owned.values()) dispatcher.pump();
  });

  function failed(error: unknown): void {
    if (!failing && !stopping)
      log.error({ err: error }, 'could not deliver events; trying again until it works');
    failing = true;
  }

  const wake = coalesce(async () => {
    if (stopping) return;
    wokenAt = performance.now();
    await placement.place();
    for (let isMore = true; isMore; ) {
      const found = await deliveriesAfter(reader, lastSeen, ACCEPTED_AT_ONCE);
      await accept(found);
      lastSeen = found.at(-1)?.seq ?? lastSeen;
      isMore = found.length === ACCEPTED_AT_ONCE;
    }
  });

  /** Delivers new deliveries of this process's webhooks and of those that no process has. */
  async function accept(deliveries: readonly NewDelivery[]): Promise<void> {
    const waiting = Map.groupBy(deliveries.filter(isPending), ({ webhook_id }) => webhook_id);
    if (waiting.size === 0) return;
    await claim([...waiting.keys()].filter((id) => !owned.has(id)));
    const ids = [...waiting.keys()].filter((id) => owned.has(id));
    if (ids.length === 0) return;
    const webhooks = new Map((await findDelivered(reader, ids)).map((webhook) => [webhook.id, webhook]));
    await Promise.all(
      ids.map((id) => owned.get(id)?.dispatcher.accept(webhooks.get(id), waiting.get(id) ?? [])),
    );
  }

  /** Takes the webhooks that no other process has, and starts to deliver. */
  async function claim(ids: readonly string[]): Promise<void> {
    if (ids.length === 0 || stopping) return;
    const startedAt = performance.now();
    const [now, until] = [timestamp(clock), timestamp(clock, times.leaseMs)];
    const won = await database.write(({ queries }) => leaseWebhooks(queries, ids, { holder, now, until }));
    if (owned.size === 0) {
      heartbeatAt = startedAt;
      certainUntil = startedAt + times.leaseMs * CERTAIN_PART;
    }
    for (const id of won) {
      const dispatcher = createDispatcher(id, {
        platform,
        reader,
        sender,
        outcomes,
        isLeased: () => owned.has(id) && performance.now() < certainUntil,
        disable: (webhook, reason) => disableWebhook(platform, webhook, reason),
        failed,
        ...(parts.pauseMs && { pauseMs: parts.pauseMs }),
      });
      owned.set(id, { dispatcher, idleSince: null, prunedAt: startedAt });
    }
    await Promise.all(won.map((id) => owned.get(id)?.dispatcher.load()));
  }

  async function tick(): Promise<void> {
    await heartbeat();
    await wake();
    const unleased = await unleasedWebhooks(reader, timestamp(clock), CLAIMED_AT_ONCE);
    await claim(unleased.filter((id) => !owned.has(id)));
    for (const one of [...owned.values()]) await upkeep(one);
    failing = false;
  }

  async function heartbeat(): Promise<void> {
    const startedAt = performance.now();
    if (owned.size === 0 || startedAt - heartbeatAt < times.heartbeatMs) return;
    const ids = [...owned.keys()];
    const [now, until] = [timestamp(clock), timestamp(clock, times.leaseMs)];
    const kept = await database.write(({ queries }) => leaseWebhooks(queries, ids, { holder, now, until }));
    heartbeatAt = startedAt;
    certainUntil = startedAt + times.leaseMs * CERTAIN_PART;
    for (const id of ids) if (!kept.includes(id)) drop(id);
  }

  function drop(id: string): void {
    owned.get(id)?.dispatcher.end();
    owned.delete(id);
  }

  async function upkeep(one: Owned): Promise<void> {
    const { dispatcher } = one;
    const id = dispatcher.webhookId;
    await dispatcher.tick();
    const now = performance.now();
    if (now - one.prunedAt >= PRUNE_MS) {
      one.prunedAt = now;
      await database.write(({ queries }) => pruneDeliveries(queries, id, KEPT_DELIVERIES));
    }
    if (!dispatcher.isIdle) one.idleSince = null;
    else one.idleSince ??= now;
    const isDone = dispatcher.hasEnded || (one.idleSince !== null && now - one.idleSince >= times.idleMs);
    if (isDone) {
      drop(id);
      await outcomes.flush();
      await database.write(({ queries }) => releaseWebhooks(queries, [id], holder));
    }
  }

  return {
    async start() {
      lastSeen = await lastDelivery(reader);
      const soon = () => {
        if (stopping) return;
        // A transaction has several changes.
        const delayMs = Math.max(GATHER_MS, wokenAt + PACE_MS - performance.now());
        waking ??= setTimeout(() => {
          waking = undefined;
          wake().catch(failed);
        }, delayMs).unref();
      };
      unsubscribe = database.changes.subscribe({ changed: soon, resync: soon });
      ticking = repeatEvery(tick, { delayMs: times.tickMs, onError: failed, immediately: true });
    },
    async stop(graceMs) {
      stopping = true;
      unsubscribe();
      clearTimeout(waking);
      await ticking?.stop();
      const ids = [...owned.keys()];
      for (const { dispatcher } of owned.values()) dispatcher.end();
      const deadline = performance.now() + graceMs;
      const busy = () => [...owned.values()].some(({ dispatcher }) => dispatcher.inFlight > 0);
      while (busy() && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      owned.clear();
      await outcomes.flush();
      outcomes.stop();
      await database.write(({ queries }) => releaseWebhooks(queries, ids, holder));
      await sender.close();
    },
  };
}

const isPending = ({ state }: NewDelivery): boolean => state === 'pending';
