import type { Database, Queries } from '../database/database.ts';
import type { Clock } from '../lib/clock.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import type { Outcome } from './attempt.ts';
import { clearSuspicion, findSuspicions, SetAside, type Suspicions, workOf } from './deaths.ts';
import type { ClaimedJob } from './leases.ts';

/** How long nothing starts beside a suspect. Long enough for most jobs, and short for those that wait. */
const ALONE_MS = MINUTE_MS;

/** A worker's view of the suspects. */
export interface Suspects {
  /** Reads them unless they are known. Call it before jobs are claimed. */
  provide(queries: Queries): Promise<void>;
  /** Reads them again. */
  refresh(queries: Queries): Promise<void>;
  /** A queued job may be a suspect, so jobs are claimed one by one. */
  readonly areOpen: boolean;
  /** The work of a job, if it is under suspicion. */
  workOf(job: ClaimedJob): string | null;
  /** Whether a suspect has just started, so that nothing may start beside it. */
  isAlone(running: Iterable<{ suspectOf: string | null; startedAt: number }>): boolean;
  /** The failure of a job that must not run now, because a job of the same work was set aside; null if it may run. */
  refusal(work: string | null): Promise<SetAside | null>;
  /** Clears the suspicion of a work if its attempt ended without a death. */
  survived(work: string | null, outcome: Outcome): Promise<void>;
}

export function createSuspects(database: Database, clock: Clock): Suspects {
  let known: Suspicions | undefined;
  /** Numbers of the last look that began, and of the one that is known. */
  let begun = 0;
  let latest = 0;
  const now = () => clock.now().getTime();

  async function refresh(queries: Queries): Promise<void> {
    const look = ++begun;
    const found = await findSuspicions(queries, now());
    // A sweep and a claim look at the same time. An earlier look that ends later must not hide a death.
    if (look < latest) return;
    latest = look;
    known = found;
  }

  return {
    refresh,
    async provide(queries) {
      if (known === undefined) await refresh(queries);
    },
    get areOpen() {
      return [...(known?.values() ?? [])].some(({ deaths, heldUntil }) => deaths > 0 && heldUntil <= now());
    },
    workOf(job) {
      if (known === undefined || known.size === 0) return null;
      const work = workOf(job);
      return known.has(work) ? work : null;
    },
    isAlone(running) {
      for (const { suspectOf, startedAt } of running) {
        if (suspectOf !== null && startedAt > now() - ALONE_MS) return true;
      }
      return false;
    },
    async refusal(work) {
      const isHeld = () => work !== null && (known?.get(work)?.heldUntil ?? 0) > now();
      if (work === null || !isHeld()) return null;
      // An operator may have changed that since the last look.
      await refresh(database.reader);
      return isHeld() ? new SetAside(work, { isHeld: true }) : null;
    },
    async survived(work, outcome) {
      if (work === null) return;
      const hasSucceeded = outcome.is === 'done';
      const wasRefused = outcome.is === 'failed' && outcome.error instanceof SetAside;
      if (wasRefused || !(hasSucceeded || outcome.is === 'failed' || outcome.is === 'called off')) return;
      await database.write(async ({ queries }) => {
        await clearSuspicion(queries, work, { hasSucceeded });
        await refresh(queries);
      });
    },
  };
}
