import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { defineJob, type JobKind, type RunningJob } from '../../../jobs/job.ts';
import { hasUnfinishedJobs } from '../../../jobs/lanes.ts';
import type { Schedule } from '../../../jobs/schedule.ts';
import { timestamp } from '../../../lib/clock.ts';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import { createEdgeAddressBook } from '../../hosts/edge-address-book.ts';
import { beginReport } from './begin-report.ts';
import type { Internet } from './internet.ts';
import { monitorReachability } from './jobs.ts';
import { probeReach, type Reach } from './reach.ts';
import {
  countMonitored,
  domainsDueForCheck,
  type MonitoredDomain,
  recordCheck,
} from './reachability-store.ts';
import { isOwnAddress } from './record-advice.ts';
import { withSibling } from './store.ts';

/** One lane for the looks and the reports that follow from them: they never take more than one worker, nor anybody's turn. */
const LANE = monitorReachability.name;
const EVERY_MS = DAY_MS;
/** What does not arrive has been mended more often than what does was broken. */
const FAILING_EVERY_MS = 3 * HOUR_MS;
/** All served domains could be looked at in this time: spread over the day, with room for those that are looked at more often. */
const ROUND_MINUTES = 8 * 60;
const FEWEST = 2;
const MOST = 60;
const AT_ONCE = 4;
const LOOK_TIME_MS = 10_000;

interface Parts {
  host: Pick<Host, 'publish' | 'withdraw'>;
  internet: Pick<Internet, 'prober'>;
}

/** What was seen of a domain. */
interface ReachabilityCheck extends MonitoredDomain {
  /** Null: nobody could tell. */
  arrives: boolean | null;
}

/** Asks for the looks of each minute, but while those of an earlier one are not done. */
export function reachabilitySchedule({ queue }: Pick<Platform, 'queue'>): Schedule {
  return {
    name: monitorReachability.name,
    cron: '* * * * *',
    async enqueue(transaction) {
      if (await hasUnfinishedJobs(transaction.queries, LANE)) return;
      await queue.enqueue(transaction, monitorReachability, { payload: {}, lane: LANE });
    },
  };
}

/**
 * The platform looks by itself whether the visitors of each served domain still arrive here. Where that is otherwise than it was, a
 * status report follows, as if somebody had asked: it has the last word, and says what to do. What is as it was leaves nothing behind.
 */
export function reachabilityMonitor(platform: Platform, { host, internet }: Parts): JobKind {
  const { config, database, clock, random } = platform;
  const { reader } = database;
  const edges = createEdgeAddressBook(config);

  return defineJob({
    ...monitorReachability,
    async run(_payload, job) {
      const domains = await domainsDueForCheck(reader, {
        before: timestamp(clock, -EVERY_MS),
        failingBefore: timestamp(clock, -FAILING_EVERY_MS),
        limit: checksPerMinute(await countMonitored(reader)),
      });
      if (domains.length === 0) return;
      const looks = await checkAll(domains, job);
      return (transaction) => conclude(transaction, looks);
    },
  });

  async function checkAll(domains: MonitoredDomain[], job: RunningJob): Promise<ReachabilityCheck[]> {
    const looks = await mapConcurrent(domains, AT_ONCE, async (domain) => ({
      ...domain,
      arrives: await arrives(domain, job),
    }));
    // A worker that must stop, or is not the job's any more, has not seen what it could.
    job.signal.throwIfAborted();
    return looks;
  }

  async function arrives(
    { name, install_id }: MonitoredDomain,
    { signal, log }: RunningJob,
  ): Promise<boolean | null> {
    signal.throwIfAborted();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LOOK_TIME_MS)]);
    try {
      const reach = await probeReach(name, { host, prober: internet.prober, random }, limit);
      if (reach.reached !== false) return reach.reached;
      return isSilentAt(await edges.ofInstall(reader, install_id), reach) ? null : false;
    } catch (err) {
      signal.throwIfAborted();
      log.warn({ err, domain: name }, 'could not look where a domain leads');
      return null;
    }
  }

  async function conclude(transaction: Transaction, looks: ReachabilityCheck[]): Promise<void> {
    const { queries } = transaction;
    const reported = new Set<string>();
    for (const { id, install_id, install_name, arrives, reached } of looks) {
      if (arrives === null || arrives === reached || reported.has(id)) continue;
      // It may have been deleted since.
      if (!(await lockRow(transaction, 'installs', install_id))) continue;
      const [domain, ...sibling] = await withSibling(queries, install_id, id);
      if (domain === undefined) continue;
      await beginReport(transaction, platform, edges, {
        install: { id: install_id, name: install_name },
        domains: [domain, ...sibling],
        lane: LANE,
        requestId: null,
      });
      for (const told of [domain, ...sibling]) reported.add(told.id);
    }
    // After the installs are locked: whoever deletes a domain locks its install first, too.
    for (const { id } of looks) await recordCheck(queries, id, timestamp(clock));
  }
}

/**
 * Whether the name leads to the edge's own addresses, and nothing answers there: an outage, or a platform that has no way to itself
 * through its NAT. That is the operator's to see, and no fault of each domain.
 */
function isSilentAt(addresses: string[], { arrivals }: Reach): boolean {
  return (
    arrivals.length > 0 &&
    arrivals.every(
      ({ address, arrives, problem }) =>
        isOwnAddress(address, { addresses }) && (arrives || problem !== 'another_server'),
    )
  );
}

/** How many domains are looked at in a minute, of so many that are served. */
export function checksPerMinute(served: number): number {
  return Math.min(MOST, Math.max(FEWEST, Math.ceil(served / ROUND_MINUTES)));
}
