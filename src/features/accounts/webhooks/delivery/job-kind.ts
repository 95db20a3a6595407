import type { Queries } from '../../../../database/database.ts';
import { defineJob, type JobKind, type RunningJob } from '../../../../jobs/job.ts';
import { timestamp } from '../../../../lib/clock.ts';
import { untilAborted } from '../../../../lib/concurrency.ts';
import type { Sender } from '../../../../network/webhooks/sender.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { eventView } from '../../events/view.ts';
import type { Arrivals } from '../arrivals.ts';
import { deliverWebhook, jobOfLane } from '../jobs.ts';
import { RETRIED_MS, retryPauseMs } from './backoff.ts';
import { disableWebhook } from './disabling.ts';
import { createOutcomeWriter } from './outcome-writer.ts';
import {
  type DeliveredWebhook,
  findDelivered,
  pruneDeliveries,
  type WaitingDelivery,
  waitingInLane,
} from './store.ts';

const LOADED_AT_ONCE = 100;
/** The webhook and its deliveries are read again after this time, because users change them. */
const READ_AGAIN_MS = 1_000;
/** Maximum duration of a job, so that the lanes of other accounts get its slot. */
const LONGEST_MS = 10_000;
/** How long a job waits for the next delivery. Events come in looks that are at least 30 ms apart. */
const LINGER_MS = 100;
/** The same for a lane that has proved busy. */
const LINGER_BUSY_MS = 1_000;
/** Finished deliveries kept for each webhook. */
const KEPT_DELIVERIES = 1_000;
/** Part of the jobs that delete older ones. */
const PRUNING_PART = 0.02;
const GAVE_UP_PAUSE_MS = 60_000;
const GONE = 410;
const GONE_REASON = 'The receiver answered 410 Gone.';
const RETRIED_REASON = 'Deliveries failed for 3 days. The last attempt:';

/** The end of a job: nothing waits, or the time in milliseconds since the epoch at which the lane continues. */
type Next = number | null;

/** Sends the deliveries of one lane of a webhook, one after the other. The next job begins with a delivery that failed. */
export function deliveryJobKind(
  platform: Pick<Platform, 'database' | 'queue' | 'activity' | 'clock' | 'random' | 'sealer' | 'log'>,
  {
    sender,
    arrivals,
    pauseMs = retryPauseMs,
  }: { sender: Sender; arrivals: Arrivals; pauseMs?: typeof retryPauseMs },
): JobKind<typeof deliverWebhook.payload> {
  const { database, queue, clock, random, sealer } = platform;
  const { reader } = database;
  const outcomes = createOutcomeWriter(platform);

  /** The webhook with its secrets; undefined if it is off or deleted. Users change it. */
  async function present(queries: Queries, id: string) {
    const [webhook] = await findDelivered(queries, [id]);
    if (!webhook?.enabled) return undefined;
    const { sealed_secret, previous_sealed_secret: previous, previous_until: until } = webhook;
    const overlaps = previous !== null && until !== null && until > timestamp(clock);
    const secrets = [sealed_secret, ...(overlaps ? [previous] : [])].map((one) => sealer.open(one));
    return { ...webhook, secrets };
  }

  async function attempt(
    to: DeliveredWebhook & { secrets: string[] },
    delivery: WaitingDelivery,
    job: RunningJob,
  ): Promise<Next> {
    const startedAt = clock.now();
    const { seq, once, event_id: id } = delivery;
    const body = JSON.stringify(eventView({ ...delivery, id }));
    const sent = Math.floor(startedAt.getTime() / 1_000);
    const answer = await untilAborted(
      sender.send({ url: to.url, id, timestamp: sent, body, secrets: to.secrets }),
      job.signal,
    );
    const now = clock.now().getTime();
    const attempts = delivery.attempts + 1;
    const firstAt = delivery.first_attempt_at ?? startedAt.toISOString();
    const isDone = answer.error === null;
    const isGone = answer.status === GONE && !once;
    const isOver = !isDone && !once && (isGone || now - Date.parse(firstAt) >= RETRIED_MS);
    // The last attempt stays pending until the webhook is switched off, which is then certain to happen.
    const isRetried = !isDone && !once;
    const retryAt = isRetried
      ? now + (isOver ? 0 : pauseMs(attempts, answer.retryAfterSeconds, random))
      : null;
    outcomes.add({
      seq,
      state: isDone ? 'succeeded' : isRetried ? 'pending' : 'failed',
      attempts,
      first_attempt_at: firstAt,
      last_attempt_at: startedAt.toISOString(),
      next_attempt_at: retryAt === null ? null : new Date(retryAt).toISOString(),
      response_status: answer.status,
      response_body: answer.responseBody,
      error: answer.error,
      duration_ms: answer.durationMs,
    });
    if (!isOver) return retryAt;
    await outcomes.flush();
    await disableWebhook(
      platform,
      to,
      isGone ? GONE_REASON : `${RETRIED_REASON} ${answer.error ?? ''}`.trim(),
    );
    return null;
  }

  /** Delivers until nothing waits, the first delivery has to wait, or the job should end. Returns when the lane goes on. */
  async function deliver(webhookId: string, lane: string, job: RunningJob): Promise<Next> {
    const endsAt = performance.now() + LONGEST_MS;
    const arrival = arrivals.listen(webhookId, lane);
    try {
      let lingerMs = LINGER_MS;
      for (let after = 0; ; ) {
        const readAt = performance.now();
        const webhook = await present(reader, webhookId);
        if (webhook === undefined) return null;
        const waiting = await waitingInLane(reader, webhookId, lane, { after, limit: LOADED_AT_ONCE });
        for (const delivery of waiting) {
          // Without a certain lease, another process may deliver. Then this job ends without effect.
          const mustEnd = job.stopping.aborted || performance.now() >= endsAt || !job.isHeld();
          if (mustEnd) return clock.now().getTime();
          const notBefore = delivery.next_attempt_at === null ? 0 : Date.parse(delivery.next_attempt_at);
          if (notBefore > clock.now().getTime()) return notBefore;
          if (outcomes.isFull) await outcomes.flush();
          const next = await attempt(webhook, delivery, job);
          if (next !== null) return next;
          after = delivery.seq;
          if (performance.now() - readAt > READ_AGAIN_MS) break;
        }
        if (waiting.length > 0) continue;
        if (after === 0 || job.stopping.aborted || !(await arrival.within(lingerMs))) return null;
        lingerMs = LINGER_BUSY_MS;
      }
    } finally {
      arrival.close();
    }
  }

  return defineJob({
    ...deliverWebhook,
    async run({ webhook_id, lane, account_id }, job) {
      let next: Next;
      try {
        next = await deliver(webhook_id, lane, job);
      } finally {
        await outcomes.flush();
      }
      if (random.fraction() < PRUNING_PART) {
        await database.write(({ queries }) => pruneDeliveries(queries, webhook_id, KEPT_DELIVERIES));
      }
      if (next === null) return;
      const at = next;
      return (transaction) =>
        queue.ensure(transaction, deliverWebhook, {
          ...jobOfLane({ webhook_id, lane, account_id }),
          delayMs: Math.max(0, at - clock.now().getTime()),
        });
    },
    async giveUp(payload, _failure, transaction) {
      await queue.ensure(transaction, deliverWebhook, { ...jobOfLane(payload), delayMs: GAVE_UP_PAUSE_MS });
    },
  });
}
