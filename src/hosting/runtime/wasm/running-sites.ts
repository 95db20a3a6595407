import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { untilAborted } from '../../../lib/concurrency.ts';
import { workerMemory } from '../../policy/php-limits.ts';
import { type PhpMemory, siteMb, WASM_MEMORY } from '../../policy/wasm-php-limits.ts';
import type { ServingProcess } from './php-process.ts';
import { PhpFailure, type PhpSite, type PhpSitesFigures } from './php-sites.ts';

const RETRY_AFTER = 5;
/** Part of the longest wait after which a website gets the turn of one that works all the time. */
const TURN_PART = 0.25;

interface Running {
  site: PhpSite;
  process: Promise<ServingProcess>;
  /** Requests and scripts in progress. */
  active: number;
  /** Requests among them in which PHP is idle, because the visitor sends or reads slowly. */
  waiting: number;
  lastUsed: number;
  /** When its process began. */
  begunAt: number;
  /** Websites that wait for its turn to end. It begins no more requests, and finishes those in progress. */
  yieldsTo: number;
  timer: NodeJS.Timeout | undefined;
  isEnding: boolean;
  /** Requests of the website's pages that it still begins while its turn or its process ends. */
  ownLeft: number;
}

/** The processes of websites, as many as the memory allows. */
export interface RunningSites {
  /** What it does now, and how often PHP ended by itself so far. */
  readonly figures: PhpSitesFigures;
  /**
   * Runs `use` in the website's process, which `start` starts if needed. The process stays until `done` is called. While `setWaiting` says
   * that only the visitor is busy, other websites may still need its memory more. `isOwn`: a page of the website asks, and waits for the answer.
   *
   * @throws PhpFailure `busy` if the website is held, or the memory is used by other websites for too long
   */
  use<Result>(
    site: PhpSite,
    start: () => Promise<ServingProcess>,
    use: (
      process: ServingProcess,
      done: () => void,
      setWaiting: (isWaiting: boolean) => void,
    ) => Promise<Result>,
    signal?: AbortSignal,
    isOwn?: boolean,
  ): Promise<Result>;
  /**
   * Takes the memory of another thread for this website, whose process is in use. Call the returned function when it has ended.
   *
   * @throws PhpFailure `busy` if other websites use the memory for too long
   */
  takeThread(site: PhpSite, signal?: AbortSignal): Promise<() => void>;
  /** The longest time of a request of the website, in seconds; 0 without a process. */
  secondsOf(siteId: string): number;
  /** Whether the website's process does something. */
  isWorking(siteId: string): boolean;
  /** Refuses the website's process until the returned function is called. A present process has to be ended. */
  hold(siteId: string): () => void;
  isHeld(siteId: string): boolean;
  /** Lets requests of the website wait until the returned function is called. A present process has to be ended. */
  pause(siteId: string): () => void;
  /** Ends the website's process when it has nothing to do, at the latest after `graceMs`. Until then, the signal lets it go on. */
  end(siteId: string, graceMs: number, signal?: AbortSignal): Promise<void>;
  endAll(): Promise<void>;
}

interface Options {
  memoryMb: number;
  /** The memory of each website. Default: as WebAssembly. */
  memory?: () => PhpMemory;
  idleMs: number;
  waitMs: number;
  /** Stops an idle website. */
  stop(siteId: string): Promise<void>;
}

export function createRunningSites({
  memoryMb,
  memory = () => WASM_MEMORY,
  idleMs,
  waitMs,
  stop,
}: Options): RunningSites {
  const running = new Map<string, Running>();
  /** How often each website is held. */
  const held = new Map<string, number>();
  /** How often each website is paused. */
  const paused = new Map<string, number>();
  /** Memory of threads beyond those of the websites' limits. */
  let moreMb = 0;
  let endedThemselves = 0;
  /** Requests without a process, the one that has waited longest first. */
  const queue = new Set<{ siteId: string }>();
  /** Called when memory may be free or a request has ended. */
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of [...listeners]) listener();
  };

  const sizeOf = ({ limits }: PhpSite): number => siteMb(memory(), limits);

  function usedMb(): number {
    return [...running.values()].reduce((sum, { site }) => sum + sizeOf(site), moreMb);
  }

  /** Waits until something changes or the signal aborts, at most until `until`. Returns false after that. */
  async function change(until: number, signal?: AbortSignal): Promise<boolean> {
    const left = until - performance.now();
    if (left <= 0) return false;
    const ended = new AbortController();
    const happened = new Promise<boolean>((resolve) => {
      const listener = (): void => {
        listeners.delete(listener);
        resolve(true);
      };
      listeners.add(listener);
      signal?.addEventListener('abort', listener, { signal: ended.signal });
      ended.signal.addEventListener('abort', () => listeners.delete(listener));
    });
    const timeout = sleep(left, false, { signal: ended.signal, ref: false }).catch(() => false);
    const result = await Promise.race([happened, timeout]);
    ended.abort();
    return result;
  }

  /** The website's process; waits for memory before its start. */
  async function entryFor(
    site: PhpSite,
    start: () => Promise<ServingProcess>,
    signal: AbortSignal | undefined,
    isOwn: boolean,
  ): Promise<Running> {
    const began = performance.now();
    const until = began + waitMs;
    const turnAt = began + waitMs * TURN_PART;
    const yielding: Running[] = [];
    const place = { siteId: site.id };
    queue.add(place);
    try {
      for (;;) {
        signal?.throwIfAborted();
        // After each wait, because the files of a held website may be moved at any time.
        if (held.has(site.id)) throw new PhpFailure('busy', 'the website is being restored', RETRY_AFTER);
        const isPaused = paused.has(site.id);
        const own = isOwn ? ownProcess(site.id) : null;
        const entry = own ?? (isPaused ? null : presentOrNew(site, start));
        if (entry !== null) return entry;
        const isTurn = performance.now() >= turnAt;
        if (isTurn && !isPaused && !running.has(site.id)) yielding.push(...endTurns(sizeOf(site)));
        if (await change(isTurn ? until : turnAt, signal)) continue;
        if (!isTurn) continue;
        throw new PhpFailure(
          'busy',
          isPaused ? 'the website is being backed up' : 'too many websites are in use',
          RETRY_AFTER,
        );
      }
    } finally {
      queue.delete(place);
      for (const entry of yielding) entry.yieldsTo -= 1;
      changed();
    }
  }

  /** Whether another website has waited longer for a process. */
  function isBehind(siteId: string): boolean {
    for (const place of queue) {
      if (place.siteId === siteId) return false;
      if (!running.has(place.siteId) && !paused.has(place.siteId)) return true;
    }
    return false;
  }

  /** Ends turns until so much memory will be free, those of the websites first that have had their process for the longest time. */
  function endTurns(neededMb: number): Running[] {
    const entries = [...running.values()].toSorted((one, other) => one.begunAt - other.begunAt);
    let freeMb = memoryMb - usedMb();
    for (const entry of entries) if (isLeaving(entry)) freeMb += sizeOf(entry.site);
    const chosen: Running[] = [];
    for (const entry of entries) {
      if (freeMb >= neededMb) break;
      if (isLeaving(entry)) continue;
      entry.yieldsTo += 1;
      entry.ownLeft = entry.active;
      freeMb += sizeOf(entry.site);
      chosen.push(entry);
      if (!isWorking(entry)) void stop(entry.site.id);
    }
    return chosen;
  }

  /**
   * Lets a page of the website ask the website itself while its process ends, because that page waits for the answer. There are only as
   * many such requests as there were pages, so pages that ask for each other cannot go on for ever.
   */
  function ownProcess(siteId: string): Running | null {
    const present = running.get(siteId);
    if (present === undefined || !isWorking(present) || !isLeaving(present) || present.ownLeft === 0)
      return null;
    present.ownLeft -= 1;
    return present;
  }

  /** Null while the website has to wait. */
  function presentOrNew(site: PhpSite, start: () => Promise<ServingProcess>): Running | null {
    const present = running.get(site.id);
    if (present !== undefined) {
      const isSame = isDeepStrictEqual(present.site, site);
      const yields = present.yieldsTo > 0;
      if (!present.isEnding && isSame && !yields) return present;
      if (!present.isEnding && (!isSame || !isWorking(present))) void stop(site.id);
    } else if (isBehind(site.id)) return null;
    else if (running.size === 0 || usedMb() + sizeOf(site) <= memoryMb) return begin(site, start);
    else endOldest(sizeOf(site));
    return null;
  }

  function begin(site: PhpSite, start: () => Promise<ServingProcess>): Running {
    const entry: Running = {
      site,
      process: start(),
      active: 0,
      waiting: 0,
      lastUsed: performance.now(),
      begunAt: performance.now(),
      yieldsTo: 0,
      timer: undefined,
      isEnding: false,
      ownLeft: 0,
    };
    running.set(site.id, entry);
    const forget = (): void => {
      clearTimeout(entry.timer);
      if (!entry.isEnding) endedThemselves += 1;
      if (running.get(site.id) === entry) running.delete(site.id);
      changed();
    };
    entry.process.then(({ ended }) => ended).then(forget, forget);
    return entry;
  }

  /** Stops the website whose PHP has been idle the longest, unless those that end already leave enough memory. */
  function endOldest(neededMb: number): void {
    const ending = [...running.values()].filter(({ isEnding }) => isEnding);
    const endingMb = ending.reduce((sum, { site }) => sum + sizeOf(site), 0);
    if (usedMb() - endingMb + neededMb <= memoryMb) return;
    const idle = [...running.values()].filter((entry) => !isWorking(entry) && !entry.isEnding);
    idle.sort((one, other) => other.yieldsTo - one.yieldsTo || one.lastUsed - other.lastUsed);
    const [oldest] = idle;
    if (oldest !== undefined) void stop(oldest.site.id);
  }

  /** Counts a website until the returned function is called. Requests that wait see both at once. */
  function count(counts: Map<string, number>, siteId: string): () => void {
    counts.set(siteId, (counts.get(siteId) ?? 0) + 1);
    changed();
    return () => {
      const left = (counts.get(siteId) ?? 1) - 1;
      if (left === 0) counts.delete(siteId);
      else counts.set(siteId, left);
      changed();
    };
  }

  return {
    get figures() {
      return {
        running: running.size,
        memoryMb: usedMb(),
        memoryLimitMb: memoryMb,
        restarts: endedThemselves,
        waiting: queue.size,
      };
    },

    async use(site, start, use, signal, isOwn = false) {
      const entry = await entryFor(site, start, signal, isOwn);
      entry.active += 1;
      clearTimeout(entry.timer);
      let isDone = false;
      let isWaiting = false;
      const setWaiting = (given: boolean): void => {
        if (isDone || given === isWaiting) return;
        isWaiting = given;
        entry.waiting += given ? 1 : -1;
        if (given) changed();
      };
      const done = (): void => {
        if (isDone) return;
        setWaiting(false);
        isDone = true;
        entry.active -= 1;
        entry.lastUsed = performance.now();
        if (entry.active === 0) {
          entry.timer = setTimeout(() => void stop(site.id), idleMs);
          entry.timer.unref();
        }
        changed();
      };
      try {
        return await use(await untilAborted(entry.process, signal), done, setWaiting);
      } catch (error) {
        done();
        throw error;
      }
    },

    async takeThread({ limits }, signal) {
      const mb = workerMemory(limits.memoryMb, memory().threadMb);
      const until = performance.now() + waitMs;
      // A single website always gets it, as it gets its process.
      while (usedMb() + mb > memoryMb && (running.size > 1 || moreMb > 0)) {
        endOldest(mb);
        if (!(await change(until, signal))) {
          throw new PhpFailure('busy', 'too many websites are in use', RETRY_AFTER);
        }
        signal?.throwIfAborted();
      }
      moreMb += mb;
      return () => {
        moreMb -= mb;
        changed();
      };
    },

    secondsOf: (siteId) => running.get(siteId)?.site.limits.seconds ?? 0,

    isWorking(siteId) {
      const entry = running.get(siteId);
      return entry !== undefined && isWorking(entry);
    },

    hold: (siteId) => count(held, siteId),
    pause: (siteId) => count(paused, siteId),

    isHeld: (siteId) => held.has(siteId),

    async end(siteId, graceMs, signal) {
      signal?.throwIfAborted();
      const entry = running.get(siteId);
      if (entry === undefined) return;
      if (!isLeaving(entry)) entry.ownLeft = entry.active;
      entry.isEnding = true;
      changed();
      const until = performance.now() + graceMs;
      while (isWorking(entry) && running.get(siteId) === entry && (await change(until, signal))) {
        if (!signal?.aborted) continue;
        entry.isEnding = false;
        changed();
        throw signal.reason;
      }
      const process = await entry.process.catch(() => null);
      await process?.kill();
    },

    async endAll() {
      await Promise.all([...running.keys()].map((siteId) => this.end(siteId, 0)));
    },
  };
}

const isLeaving = ({ isEnding, yieldsTo }: Running): boolean => isEnding || yieldsTo > 0;

function isWorking({ active, waiting }: Running): boolean {
  return active > waiting;
}
