import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Time after which modules of first jobs and requests are loaded too. */
const SETTLED_MS = 1_500;
const LOOK_EVERY_MS = 60_000;
/** A collection stops the process for a tenth of a second, so it waits until the process has little to do: part of one processor. */
const IDLE_PART = 0.1;
/** Looks after a collection until another one. Kept answers of the database that no one asks for expire in three minutes. */
const LOOKS_UNTIL_EXPIRED = 3;
/** Less is not worth a collection. */
const WORTHWHILE_BYTES = 32 * 1024 * 1024;

export interface ProcessUsage {
  /** Of all threads, since the process began. */
  processorMs: number;
  /** Memory that V8 holds for objects. */
  heapBytes: number;
}

/**
 * Decides when memory is returned to the system: if the heap has grown since the last time, and the process was idle since the last look. A
 * second time follows, for what has expired meanwhile. V8 alone keeps the heap of the busiest hour.
 */
export function createMemoryReturn(usage: () => ProcessUsage, collect: () => void) {
  let { processorMs, heapBytes } = usage();
  /** Idle looks until the second collection; null: none is due. */
  let untilSecond: number | null = null;
  return {
    /** `sinceMs`: since the last look. */
    look(sinceMs: number): void {
      const present = usage();
      const isIdle = present.processorMs - processorMs < sinceMs * IDLE_PART;
      processorMs = present.processorMs;
      if (!isIdle) return;
      const isGrown = present.heapBytes >= heapBytes + WORTHWHILE_BYTES;
      if (untilSecond !== null) untilSecond--;
      if (!isGrown && untilSecond !== 0) return;
      collect();
      heapBytes = usage().heapBytes;
      untilSecond = isGrown ? LOOKS_UNTIL_EXPIRED : null;
    },
  };
}

/** Returns the memory of the start once, otherwise the heap would keep 40 MB, and later that of busy times. */
export function returnMemory(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  if (typeof gc !== 'function') return;
  // `last-resort` also returns empty pages to the system.
  const collect = () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setTimeout(() => {
    collect();
    const memory = createMemoryReturn(presentUsage, collect);
    let lookedAt = performance.now();
    setInterval(() => {
      const now = performance.now();
      memory.look(now - lookedAt);
      lookedAt = now;
    }, LOOK_EVERY_MS).unref();
  }, SETTLED_MS).unref();
}

function presentUsage(): ProcessUsage {
  const { user, system } = process.cpuUsage();
  return { processorMs: (user + system) / 1_000, heapBytes: process.memoryUsage().heapTotal };
}
