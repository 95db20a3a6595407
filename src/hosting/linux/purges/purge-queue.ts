import type { Logger } from 'pino';
import type { WebServer } from '../nginx/web-server.ts';
import { mergePages, type Pages } from './purge-message.ts';

/** Purges of all installs, merged and limited for each. */
export interface PurgeQueue {
  /**
   * Purges at once, unless the install's last purge was a moment ago; then the pages are in the next one. Resolves once the purge
   * is done or scheduled. Never rejects.
   */
  ask(installId: string, pages: Pages): Promise<void>;
  /** Drops the scheduled purge of a deleted install. */
  forget(installId: string): void;
}

export interface PurgeQueueOptions {
  web: Pick<WebServer, 'purge' | 'purgePages'>;
  /** Resolves after that time. */
  wait(milliseconds: number): Promise<void>;
  log: Logger;
}

/** At most four purges a second for an install. */
const PAUSE_MS = 250;
const RETRY_MS = 1_000;
/** No page is older than a minute anyway. */
const MOST_FAILURES = 60;

interface Turn {
  waiting: Pages | null;
  failures: number;
}

export function createPurgeQueue({ web, wait, log }: PurgeQueueOptions): PurgeQueue {
  /** Installs with a purge that runs, is scheduled, or was a moment ago. */
  const turns = new Map<string, Turn>();

  async function ask(installId: string, pages: Pages): Promise<void> {
    const present = turns.get(installId);
    if (present !== undefined) {
      present.waiting = present.waiting === null ? pages : mergePages(present.waiting, pages);
      return;
    }
    const turn = { waiting: null, failures: 0 };
    turns.set(installId, turn);
    await attempt(installId, turn, pages);
    void follow(installId, turn);
  }

  /** Purges what was asked for in the meantime, until nothing was. */
  async function follow(installId: string, turn: Turn): Promise<void> {
    for (;;) {
      await wait(turn.failures === 0 ? PAUSE_MS : RETRY_MS);
      if (turns.get(installId) !== turn) return;
      const pages = turn.waiting;
      if (pages === null || turn.failures >= MOST_FAILURES) break;
      turn.waiting = null;
      await attempt(installId, turn, pages);
    }
    turns.delete(installId);
  }

  async function attempt(installId: string, turn: Turn, pages: Pages): Promise<void> {
    try {
      if (pages === 'everything') await web.purge(installId);
      else await web.purgePages(installId, pages);
      turn.failures = 0;
    } catch (err) {
      turn.failures += 1;
      if (turn.failures === 1) log.warn({ err, install: installId }, 'could not purge pages; trying again');
      turn.waiting = turn.waiting === null ? pages : mergePages(turn.waiting, pages);
    }
  }

  return {
    ask,
    forget: (installId) => void turns.delete(installId),
  };
}
