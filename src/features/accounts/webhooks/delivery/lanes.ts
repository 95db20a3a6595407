import type { WaitingDelivery } from './store.ts';

/** Deliveries of one lane in memory. The rest of a long lane stays in the database. */
export const QUEUED_PER_LANE = 100;

/** The deliveries of an install, or of an account: one at a time, in order. */
export interface Lane {
  readonly name: string;
  queue: WaitingDelivery[];
  /** Whether its first delivery is being made. */
  busy: boolean;
  /** Whether its next deliveries are being loaded. */
  loading: boolean;
  /** Whether the database has more of it, after the queue. */
  more: boolean;
  /** Time of the retry, in milliseconds since the epoch; null: not failing. */
  retryAt: number | null;
  /** The number of its last finished delivery. */
  done: number;
}

/** The lanes of one webhook, and those whose next delivery can be made, in turn. */
export function createLanes() {
  const lanes = new Map<string, Lane>();
  const ready: Lane[] = [];

  function laneOf(name: string): Lane {
    const present = lanes.get(name);
    if (present) return present;
    const lane: Lane = {
      name,
      queue: [],
      busy: false,
      loading: false,
      more: false,
      retryAt: null,
      done: 0,
    };
    lanes.set(name, lane);
    return lane;
  }

  return {
    get size() {
      return lanes.size;
    },
    /** The next lane, which is busy from now on; undefined: none is ready. */
    take(): Lane | undefined {
      const lane = ready.shift();
      if (lane) lane.busy = true;
      return lane;
    },
    /**
     * Adds a delivery that was just loaded. Returns false if it stays in the database, because earlier ones of its lane wait
     * there.
     */
    add(delivery: WaitingDelivery): boolean {
      const lane = laneOf(delivery.lane);
      if (lane.retryAt !== null || lane.more || lane.loading || lane.queue.length >= QUEUED_PER_LANE) {
        lane.more = true;
        return false;
      }
      lane.queue.push(delivery);
      if (lane.queue.length === 1 && !lane.busy) ready.push(lane);
      return true;
    },
    /** A lane whose first delivery failed before, perhaps in another process. */
    addFailing(name: string, retryAt: number): void {
      const lane = laneOf(name);
      lane.retryAt = retryAt;
      lane.more = true;
    },
    /** Adds deliveries that were loaded because the queue was empty. Returns whether it is still empty, and more must be loaded. */
    refill(lane: Lane, deliveries: readonly WaitingDelivery[]): boolean {
      lane.queue.push(...deliveries);
      if (deliveries.length === QUEUED_PER_LANE) lane.more = true;
      if (lane.queue.length > 0) ready.push(lane);
      else if (lane.more) return true;
      else lanes.delete(lane.name);
      return false;
    },
    /** The first delivery is finished. Returns whether the next ones must be loaded. */
    finish(lane: Lane): boolean {
      lane.busy = false;
      lane.done = lane.queue.shift()?.seq ?? lane.done;
      if (lane.queue.length > 0) ready.push(lane);
      else if (lane.more) return true;
      else lanes.delete(lane.name);
      return false;
    },
    /** The first delivery failed and is retried. The later ones leave the memory. */
    fail(lane: Lane, retried: WaitingDelivery, retryAt: number): void {
      lane.busy = false;
      lane.retryAt = retryAt;
      lane.more ||= lane.queue.length > 1;
      lane.queue = [retried];
    },
    /** Lanes whose retry is due. They are ready, or returned if they must be loaded first. */
    due(now: number): Lane[] {
      const unloaded: Lane[] = [];
      for (const lane of lanes.values()) {
        if (lane.retryAt === null || lane.retryAt > now) continue;
        lane.retryAt = null;
        if (lane.queue.length > 0) ready.push(lane);
        else unloaded.push(lane);
      }
      return unloaded;
    },
  };
}
