import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import type { Layout } from '../host-folder/layout.ts';
import type { Vhost } from '../host-folder/vhost.ts';
import type { PhpRequest, PhpResponse, PhpSites } from '../php/php-sites.ts';
import { type PurgeRequest, takePurges } from './purge-requests.ts';
import { PRIVATE } from './site.ts';
import type { SiteFacts, WordPressSites } from './wordpress-sites.ts';

/** Requests and due tasks of the WordPress websites that this process serves. */
export interface WordPressServing {
  request(vhost: Vhost, request: PhpRequest, signal: AbortSignal): Promise<PhpResponse>;
  /** Purges the pages that the website has changed. */
  settle(vhost: Vhost): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

interface ServedSite {
  id: string;
  facts: SiteFacts;
}

export interface WordPressServingOptions {
  layout: Layout;
  sites: WordPressSites;
  php: PhpSites;
  /** The websites with WordPress. */
  served(): Promise<ServedSite[]>;
  /** One of them as it is now; null if it is gone. */
  websiteOf(installId: string): ServedSite | null;
  purge(installId: string, request: PurgeRequest): Promise<void>;
  log: Logger;
  clock: Clock;
}

const CRON_LOOK_MS = MINUTE_MS;
/** Between two runs of a website, and before the first one after a start. */
const CRON_PAUSE_MS = 5 * MINUTE_MS;
/** Without a task that is due earlier. */
const CRON_LONGEST_MS = 60 * MINUTE_MS;

export const factsOf = ({ wordpress, protect }: Pick<Vhost, 'wordpress' | 'protect'>): SiteFacts | null =>
  wordpress && { ...wordpress, passKey: protect?.passKey ?? null };

export function createWordPressServing(options: WordPressServingOptions): WordPressServing {
  const { layout, sites, php, served, websiteOf, purge, log, clock } = options;
  /** When tasks of a website are due, in milliseconds. */
  const due = new Map<string, number>();
  /** Websites that visitors asked for since the last look. */
  const visited = new Set<string>();
  const stopping = new AbortController();
  let looks: Repetition | undefined;

  async function request(vhost: Vhost, given: PhpRequest, signal: AbortSignal): Promise<PhpResponse> {
    const facts = factsOf(vhost);
    if (facts === null) throw new Error('the website has no PHP');
    visited.add(vhost.id);
    return php.request(await sites.siteOf(vhost.id, facts), given, signal);
  }

  async function takeAndPurge(installId: string): Promise<void> {
    const wanted = await takePurges(join(layout.filesOf(installId), PRIVATE));
    if (wanted !== null) await purge(installId, wanted);
  }

  /** One website at a time, so that tasks leave processes to visitors. */
  async function runDueTasks(): Promise<void> {
    const now = clock.now().getTime();
    const present = await served();
    const ids = new Set(present.map(({ id }) => id));
    for (const id of due.keys()) if (!ids.has(id)) due.delete(id);
    for (const { id } of present) {
      if (stopping.signal.aborted) return;
      if (!due.has(id)) due.set(id, now + CRON_PAUSE_MS);
      if ((due.get(id) ?? 0) > now || php.isHeld(id)) continue;
      try {
        // The tasks of other websites take minutes, in which this one can be deleted or change.
        const website = websiteOf(id);
        if (website === null) continue;
        const next = await sites.runCron(id, website.facts, stopping.signal);
        const latest = now + CRON_LONGEST_MS;
        due.set(id, Math.max(now + CRON_PAUSE_MS, Math.min(next ?? latest, latest)));
        await takeAndPurge(id);
        // Nothing but its tasks needed the process.
        if (!visited.delete(id)) await php.stop(id);
      } catch (err) {
        due.set(id, now + CRON_PAUSE_MS);
        if (!stopping.signal.aborted) log.warn({ err, install: id }, 'scheduled tasks of a website failed');
      }
    }
  }

  return {
    request,

    async settle({ id }) {
      try {
        await takeAndPurge(id);
      } catch (err) {
        // Its pages expire within a minute.
        log.warn({ err, install: id }, 'changed pages could not be purged');
      }
    },

    start() {
      looks = repeatEvery(runDueTasks, {
        delayMs: CRON_LOOK_MS,
        onError: (err) => log.warn({ err }, 'scheduled tasks could not be run'),
      });
    },

    async stop() {
      stopping.abort();
      await looks?.stop();
      await php.close();
    },
  };
}
