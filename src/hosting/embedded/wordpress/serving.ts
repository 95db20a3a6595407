import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { allDone, type Repetition, repeatEvery, serializeByKey } from '../../../lib/concurrency.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import {
  PhpFailure,
  type PhpRequest,
  type PhpResponse,
  type PhpSites,
} from '../../runtime/wasm/php-sites.ts';
import type { CronRun } from '../../websites/cron/run-cron.ts';
import type { Layout } from '../host-folder/layout.ts';
import type { Vhost } from '../host-folder/vhost.ts';
import { createRareLog } from '../rare-log.ts';
import { missingData } from './missing-data.ts';
import { type PurgeRequest, takePurges } from './purge-requests.ts';
import { createScheduledTasks } from './scheduled-tasks.ts';
import { PRIVATE, type SiteFacts } from './site.ts';
import type { WordPressSites } from './wordpress-sites.ts';

/** Requests and due tasks of the WordPress websites that this process serves. */
export interface WordPressServing {
  request(vhost: Vhost, request: PhpRequest, signal: AbortSignal): Promise<PhpResponse>;
  /** Purges the pages that the website has changed. */
  settle(website: Pick<Vhost, 'id'>): Promise<void>;
  /** Websites whose scheduled tasks are late. */
  lateCron(): number;
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
  /** Ids of the websites with WordPress. Called each minute, so it reads no files. */
  served(): string[];
  /** One of them as it is now; null if it is gone. */
  websiteOf(installId: string): ServedSite | null;
  purge(installId: string, request: PurgeRequest): Promise<void>;
  /** Runs due tasks of a website, and logs the run. */
  runCron(website: ServedSite, signal: AbortSignal): Promise<CronRun>;
  log: Logger;
  clock: Clock;
}

const CRON_LOOK_MS = MINUTE_MS;
/** Seconds until visitors of a closed website may try again. */
const CLOSED_SECONDS = 5;

export const factsOf = ({ wordpress, protect }: Pick<Vhost, 'wordpress' | 'protect'>): SiteFacts | null =>
  wordpress && { ...wordpress, passKey: protect?.passKey ?? null };

export function createWordPressServing(options: WordPressServingOptions): WordPressServing {
  const { layout, sites, php, served, websiteOf, purge, runCron, log, clock } = options;
  /** Websites that visitors asked for since the last look. */
  const visited = new Set<string>();
  const serially = serializeByKey();
  const rarely = createRareLog(clock);
  let looks: Repetition | undefined;

  async function request(vhost: Vhost, given: PhpRequest, signal: AbortSignal): Promise<PhpResponse> {
    const facts = factsOf(vhost);
    if (facts === null) throw new Error('the website has no PHP');
    const [missing] = missingData(layout, vhost.id);
    if (missing !== undefined) throw new PhpFailure('closed', missing, CLOSED_SECONDS);
    visited.add(vhost.id);
    return php.request(await sites.siteOf(vhost.id, facts), given, signal);
  }

  /** One after the other, because two would take the same file and lose what one of them read. */
  function takeAndPurge(installId: string): Promise<void> {
    return serially(installId, async () => {
      const wanted = await takePurges(join(layout.filesOf(installId), PRIVATE));
      if (wanted !== null) await purge(installId, wanted);
    });
  }

  const tasks = createScheduledTasks({
    websites: served,
    isHeld: (id) => php.isHeld(id),
    async run(id, signal) {
      // Since the look it may have been deleted or changed.
      const website = websiteOf(id);
      if (website === null || missingData(layout, id).length > 0) return null;
      const { exit, output, nextMs } = await runCron(website, signal);
      if (exit === null) throw new Error(output);
      await takeAndPurge(id);
      // Nothing but its tasks needed the process.
      if (!visited.delete(id)) await php.rest(id);
      return nextMs;
    },
    log,
    clock,
  });

  return {
    request,

    async settle({ id }) {
      try {
        await takeAndPurge(id);
      } catch (err) {
        // Its pages expire within a minute.
        rarely(id, (leftOut) => log.warn({ err, install: id, leftOut }, 'changed pages could not be purged'));
      }
    },

    lateCron: tasks.late,

    start() {
      looks = repeatEvery(async () => tasks.look(), {
        delayMs: CRON_LOOK_MS,
        onError: (err) => log.warn({ err }, 'scheduled tasks could not be run'),
      });
    },

    async stop() {
      // At once, because a task can wait for requests of its website.
      await allDone([looks?.stop() ?? Promise.resolve(), tasks.stop(), php.close()]);
    },
  };
}
