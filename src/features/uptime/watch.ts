import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import type { Host } from '../../hosting/contract/host.ts';
import { defineJob, type JobKind, type RunningJob } from '../../jobs/job.ts';
import { hasUnfinishedJobs } from '../../jobs/lanes.ts';
import type { Schedule } from '../../jobs/schedule.ts';
import { mapConcurrent } from '../../lib/concurrency.ts';
import { MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import { createEdgeAddressBook } from '../hosts/edge-address-book.ts';
import type { HostingAddresses } from '../hosts/hosting-addresses.ts';
import { type CheckParts, checkWebsite } from './check-website.ts';
import { createEdgePlaces, type FoundEdge } from './edge-places.ts';
import { gapMsOf, MOST_A_ROUND, turnsOf, watchWebsites } from './jobs.ts';
import type { Fault } from './judgement.ts';
import { createErrorFinder } from './php-errors.ts';
import { endWatch, type Observation, recordRound } from './record-round.ts';
import { type OpenIncident, openIncidents } from './store.ts';
import { countWatched, placeOfWatched, type WatchedInstall, watchedInstalls } from './watched-store.ts';

/** A website that does not answer occupies one of these for {@link LIMIT_MS}. */
const AT_ONCE = 64;
export const LIMIT_MS = 10 * SECOND_MS;
/** A round that takes longer asks the rest of the websites in the next one. */
const LONGEST_ROUND_MS = 45 * SECOND_MS;
/** Websites that one query reads. */
const READ_AT_ONCE = 500;
/** Connections to each host for cached answers. */
const CONNECTIONS = 8;

/** Minutes between the checks of one website that may wake its PHP. The embedded host ends PHP that rests for ten minutes. */
const PAGE_EVERY: Record<Config['host'], number> = { linux: 10, embedded: 60 };

interface Parts {
  host: Pick<Host, 'readLog'>;
  /** Where this process serves websites. */
  embedded: () => HostingAddresses | null;
  limitMs?: number;
  /** Minutes between the checks of one website that may wake its PHP; by default {@link PAGE_EVERY}. */
  pageEvery?: number;
}

/** The result of a check; undefined if it could not be made. */
type Found = { fault: Fault | null } | undefined;

/**
 * Queues the checks of each minute, unless those of an earlier minute are unfinished. If the watch is off, it queues one job that ends the
 * open incidents.
 */
export function watchSchedule({
  queue,
  config,
}: Pick<Platform, 'queue'> & { config: Pick<Config, 'watchWebsites'> }): Schedule {
  return {
    name: watchWebsites.name,
    cron: '* * * * *',
    async enqueue(transaction) {
      if (await hasUnfinishedJobs(transaction.queries, watchWebsites.name)) return;
      if (!config.watchWebsites && (await openIncidents(transaction.queries)).size === 0) return;
      await queue.enqueue(transaction, watchWebsites, { payload: {}, lane: watchWebsites.name });
    },
  };
}

/** The job that asks the home page of each watched website at its own host, whatever its names lead to in the DNS. */
export function websiteWatch(
  platform: Pick<Platform, 'database' | 'clock' | 'random'> & {
    config: Parameters<typeof createEdgeAddressBook>[0] & Pick<Config, 'watchWebsites'>;
  },
  parts: Parts,
): JobKind {
  const { config, database, clock, random } = platform;
  const { reader } = database;
  const addressBook = createEdgeAddressBook(config);
  const { host, embedded, limitMs = LIMIT_MS, pageEvery = PAGE_EVERY[config.host] } = parts;

  /** The websites whose turn it is. The order changes, so that no website is always among the last. */
  async function turnOf(minute: number): Promise<{ websites: WatchedInstall[]; turns: number }> {
    const turns = turnsOf(await countWatched(reader));
    const websites: WatchedInstall[] = [];
    let place = await placeOfWatched(reader, (minute % turns) * MOST_A_ROUND);
    // Other work goes on between the pages.
    for (let read = 0; read < MOST_A_ROUND && place !== null; read += READ_AT_ONCE, await nextTurn()) {
      const page = await watchedInstalls(reader, { after: place, limit: READ_AT_ONCE });
      websites.push(...page.websites);
      place = page.end;
    }
    const first = websites.length === 0 ? 0 : (minute * AT_ONCE) % websites.length;
    return { websites: [...websites.slice(first), ...websites.slice(0, first)], turns };
  }

  /** A page is due in one of so many rounds, and in each one while the website fails. */
  function wantedOf({ id }: WatchedInstall, round: number, open: ReadonlyMap<string, OpenIncident>) {
    const turn = Number.parseInt(id.slice(0, 8), 16) % pageEvery;
    return open.has(id) || round % pageEvery === turn ? 'page' : 'cached';
  }

  async function check(
    website: WatchedInstall,
    edge: FoundEdge,
    wanted: 'page' | 'cached',
    how: Omit<CheckParts, 'edge'>,
    { signal, log }: RunningJob,
  ): Promise<Found> {
    if (edge === 'unknown') return undefined;
    if (edge === 'silent') {
      return { fault: { cause: 'host', message: 'The machine that the website is on does not answer.' } };
    }
    try {
      return { fault: await checkWebsite(website, wanted, { ...how, edge }, signal) };
    } catch (err) {
      signal.throwIfAborted();
      log.warn({ err, install: website.id }, 'could not check whether a website answers');
      return undefined;
    }
  }

  return defineJob({
    ...watchWebsites,
    async run(_payload, job) {
      const at = clock.now();
      if (!config.watchWebsites) return ({ queries }) => endWatch(queries, at);
      const minute = Math.floor(at.getTime() / MINUTE_MS);
      const { websites, turns } = await turnOf(minute);
      const open = await openIncidents(reader);
      if (websites.length === 0 && open.size === 0) return;
      const gapMs = gapMsOf(turns);
      const edgeOf = createEdgePlaces({ queries: reader, addressBook, embedded, signal: job.signal });
      const errorOf = createErrorFinder(host, { at, gapMs, signal: job.signal, log: job.log });
      const agents = sharedAgents();
      const until = AbortSignal.timeout(LONGEST_ROUND_MS);
      try {
        const found = await mapConcurrent(websites, AT_ONCE, async (website): Promise<Observation[]> => {
          if (until.aborted) return [];
          const wanted = wantedOf(website, Math.floor(minute / turns), open);
          const edge = await edgeOf(website.host_id);
          const seen = await check(website, edge, wanted, { now: at, limitMs, agents }, job);
          if (seen === undefined) return [];
          const isSecond = seen.fault !== null && open.get(website.id)?.confirmed_at === null;
          const php_error = isSecond && seen.fault ? await errorOf(website, seen.fault) : null;
          return [{ install_id: website.id, fault: seen.fault, php_error }];
        });
        // A worker that stops or has lost its lease may have missed answers.
        job.signal.throwIfAborted();
        const observations = found.flat();
        return ({ queries }) => recordRound(queries, { observations, at, gapMs }, random);
      } finally {
        agents.http.destroy();
        agents.https.destroy();
      }
    },
  });
}

/** Cached answers never wait for PHP, so a few connections are enough, whatever the names. */
function sharedAgents(): CheckParts['agents'] {
  const options = { keepAlive: true, maxSockets: CONNECTIONS };
  return { http: new HttpAgent(options), https: new SharedTlsAgent(options) };
}

/** One TLS connection for all names of a host: the edge finds the website by the `Host` header of each request. */
class SharedTlsAgent extends HttpsAgent {
  override getName(options: Parameters<HttpsAgent['getName']>[0]): string {
    return `${options?.host}:${options?.port}`;
  }
}
