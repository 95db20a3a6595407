import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import type { WebServer } from '../nginx/web-server.ts';
import type { Pages } from './purge-message.ts';

/** Purges pages of installs. Each install has a budget of single paths; beyond it, all its pages are purged. */
export interface PagePurges {
  /** Effective when it resolves. */
  purge(installId: string, pages: Pages): Promise<void>;
  /** Forgets the budget of a deleted install. */
  forget(installId: string): void;
}

export interface PagePurgesOptions {
  web: Pick<WebServer, 'purge' | 'purgePages'>;
  clock: Clock;
}

/**
 * The web server remembers each purged path for an hour, in memory that all installs share. So an install gets this many at a time,
 * and one more for each span; beyond, everything is purged, which needs no memory.
 */
const MOST_PATHS = 1_000;
const PATH_EVERY_MS = MINUTE_MS / 8;

export function createPagePurges({ web, clock }: PagePurgesOptions): PagePurges {
  /** Paths that an install may still purge, and when that was computed. */
  const budgets = new Map<string, { paths: number; at: number }>();

  function isAffordable(installId: string, count: number): boolean {
    const at = clock.now().getTime();
    const last = budgets.get(installId) ?? { paths: MOST_PATHS, at };
    const paths = Math.min(MOST_PATHS, last.paths + Math.max(0, at - last.at) / PATH_EVERY_MS);
    const left = paths - count;
    budgets.set(installId, { paths: left < 0 ? paths : left, at });
    return left >= 0;
  }

  return {
    async purge(installId, pages) {
      if (pages === 'everything' || !isAffordable(installId, pages.length)) await web.purge(installId);
      else await web.purgePages(installId, pages);
    },
    forget: (installId) => void budgets.delete(installId),
  };
}
