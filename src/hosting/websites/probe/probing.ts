import { SECOND_MS } from '../../../lib/durations.ts';
import { type AskedPage, type ProbedWebsite, seePage, UNCACHED, type Visited } from './visited-page.ts';
import type { ProbeSession, ProbeSessions } from './website-state.ts';

/** Waits and time limits of a check. Tests wait less. */
export interface CheckPace {
  /** Limit for a page, with its redirects. */
  pageMs: number;
  /** A page that hangs is a fault after many times its former time, but not before this. */
  patienceMs: number;
  /** Pause before a failing check is repeated. */
  pauseMs: number;
  /** Limit for all pages together. The rest is not asked. */
  wholeMs: number;
}

export const CHECK_PACE: CheckPace = {
  pageMs: 20 * SECOND_MS,
  patienceMs: 10 * SECOND_MS,
  pauseMs: 3 * SECOND_MS,
  wholeMs: 90 * SECOND_MS,
};

/** A website, how to reach it and how to run its PHP. */
export interface ProbeSite extends ProbedWebsite, ProbeSessions {
  pace: CheckPace;
  signal?: AbortSignal | undefined;
}

/** The requests of one probe, until it takes too long or has found a fault. */
export interface Asking {
  site: ProbeSite;
  signal: AbortSignal;
  /** Requests a page; null if the probe has ended. */
  visit(page: AskedPage, timeoutMs?: number): Promise<Visited | null>;
  /** Requests a page three times if it is slow, and takes the median of the times. */
  measured(
    page: AskedPage,
    isSlow: (milliseconds: number) => boolean,
    timeoutMs?: number,
  ): Promise<Visited | null>;
  /** Ends the requests under way, and refuses others. */
  end(): void;
  hasEnded(): boolean;
}

export function createAsking(site: ProbeSite, session: ProbeSession, pageMs: number): Asking {
  const ending = new AbortController();
  const limit = AbortSignal.timeout(site.pace.wholeMs);
  const signal = AbortSignal.any([ending.signal, limit, ...(site.signal === undefined ? [] : [site.signal])]);

  async function visit(page: AskedPage, timeoutMs = pageMs): Promise<Visited | null> {
    site.signal?.throwIfAborted();
    if (signal.aborted) return null;
    const as = page.kind === 'administrator' ? session.headers.administrator : session.headers.visitor;
    try {
      return await seePage(site, page, { timeoutMs, signal, headers: { ...UNCACHED, ...as } });
    } catch (error) {
      site.signal?.throwIfAborted();
      if (signal.aborted) return null;
      throw error;
    }
  }

  return {
    site,
    signal,
    visit,
    async measured(page, isSlow, timeoutMs) {
      const first = await visit(page, timeoutMs);
      if (first === null || first.page.status === null || !isSlow(first.page.milliseconds)) return first;
      const again = [await visit(page, timeoutMs), await visit(page, timeoutMs)];
      const times = [first, ...again].flatMap((one) => one?.page.milliseconds ?? []).sort((a, b) => a - b);
      const median = times[Math.floor(times.length / 2)] ?? first.page.milliseconds;
      return { ...first, page: { ...first.page, milliseconds: median } };
    },
    end: () => ending.abort(),
    hasEnded: () => signal.aborted,
  };
}
