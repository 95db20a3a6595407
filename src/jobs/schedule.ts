import { Cron } from 'croner';
import type { Logger } from 'pino';
import type { Database, Transaction } from '../database/database.ts';
import type { Clock } from '../lib/clock.ts';
import { type Repetition, repeatEvery } from '../lib/concurrency.ts';
import { createOutage } from './outage.ts';
import type { Queue } from './queue.ts';

const LOOK_EVERY_MS = 1_000;

/** Recurring work. */
export interface Schedule {
  /** Stored in the database: renaming a schedule starts a new one. */
  readonly name: string;
  /** Five fields (minute, hour, day of the month, month, day of the week), in UTC. */
  readonly cron: string;
  /** Enqueues the work of one slot, in the transaction that takes the slot. */
  enqueue(transaction: Transaction, queue: Queue): Promise<void>;
}

/**
 * Takes each slot of each schedule once across all processes. After an outage of all processes it catches up the latest
 * missed slot only. A new schedule begins with its next slot.
 */
export interface Scheduler {
  start(): void;
  /** Takes no more slots. Resolves when those in progress are done. */
  stop(): Promise<void>;
  /** Takes the slots that are due. Never throws: errors are logged, and the next tick tries again. */
  tick(): Promise<void>;
}

/** Throws if a cron expression is malformed or two schedules have the same name. */
export function createScheduler(parts: {
  database: Database;
  queue: Queue;
  clock: Clock;
  log: Logger;
  schedules: readonly Schedule[];
}): Scheduler {
  const { database, queue, clock, log } = parts;
  const planned = parts.schedules.map((schedule) => ({
    schedule,
    latestSlot: slotFinder(schedule.cron, clock),
    outage: createOutage(log, `take the slots of the schedule ${schedule.name}`),
    /** The latest slot known to be taken by any process. */
    taken: undefined as string | undefined,
  }));
  if (new Set(planned.map(({ schedule }) => schedule.name)).size < planned.length) {
    throw new Error('two schedules have the same name');
  }
  let repetition: Repetition | undefined;

  async function tick(): Promise<void> {
    for (const plan of planned) {
      const slot = plan.latestSlot();
      if (slot === undefined || plan.taken === slot) continue;
      try {
        const outcome = await database.write((transaction) =>
          takeSlot(transaction, plan.schedule, slot, queue),
        );
        plan.taken = slot;
        plan.outage.over();
        log.debug({ schedule: plan.schedule.name, slot }, outcome);
      } catch (error) {
        plan.outage.failed(error);
      }
    }
  }

  return {
    tick,
    start() {
      repetition ??= repeatEvery(tick, {
        delayMs: LOOK_EVERY_MS,
        onError: (err) => log.error({ err }, 'schedules could not be read'),
        immediately: true,
        keepsProcessAlive: true,
      });
    },
    async stop() {
      await repetition?.stop();
    },
  };
}

/**
 * Creates a function that finds the latest slot that is not in the future. It keeps that slot until the next one instead of the parsed
 * expression, which takes 80 kB. Throws if the expression is malformed.
 */
function slotFinder(expression: string, clock: Clock): () => string | undefined {
  // With the option `timezone` the library loads Intl's formats of dates: 6 MB and 20 ms.
  const parse = () => new Cron(expression, { utcOffset: 0, mode: '5-part', paused: true });
  parse();
  let slot: Date | undefined;
  /** The time from the slot to the next one, in milliseconds since 1970. */
  let from = 0;
  let until = 0;
  return () => {
    const now = clock.now().getTime();
    if (now < from || now >= until) {
      const cron = parse();
      // The library excludes a run at exactly the given time.
      [slot] = cron.previousRuns(1, new Date(now + 1));
      from = slot?.getTime() ?? now;
      until = cron.nextRun(new Date(now))?.getTime() ?? Number.POSITIVE_INFINITY;
    }
    return slot?.toISOString();
  };
}

type SlotOutcome = 'began the schedule' | 'took the slot' | 'the slot was taken';

async function takeSlot(
  transaction: Transaction,
  schedule: Schedule,
  slot: string,
  queue: Queue,
): Promise<SlotOutcome> {
  const { queries } = transaction;
  const latest = await queries
    .selectFrom('schedule_runs')
    .select('slot')
    .where('schedule', '=', schedule.name)
    .orderBy('slot', 'desc')
    .executeTakeFirst();
  // A process with a slow clock reaches earlier slots late.
  if (latest !== undefined && latest.slot >= slot) return 'the slot was taken';
  const { numInsertedOrUpdatedRows } = await queries
    .insertInto('schedule_runs')
    .values({ schedule: schedule.name, slot })
    .onConflict((conflict) => conflict.columns(['schedule', 'slot']).doNothing())
    .executeTakeFirstOrThrow();
  if (latest === undefined) return 'began the schedule';
  if (numInsertedOrUpdatedRows === 0n) return 'the slot was taken';
  await schedule.enqueue(transaction, queue);
  return 'took the slot';
}
