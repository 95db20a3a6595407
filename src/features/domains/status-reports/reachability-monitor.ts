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
  countDomains,
  type DueDomains,
  domainsDueForCheck,
  type MonitoredDomain,
  recordCheck,
} from './reachability-store.ts';
import { isOwnAddress } from './record-advice.ts';
import { withSibling } from './store.ts';

/** One lane for checks and the reports they start, so they use one worker at most and delay no account's jobs. */
const LANE = monitorReachability.name;
const EVERY_MS = DAY_MS;
/** Unreachable domains change more often than reachable ones. */
const FAILING_EVERY_MS = 3 * HOUR_MS;
/** Time in which all served domains could be checked; shorter than a day, because unreachable ones are checked more often. */
const ROUND_MINUTES = 8 * 60;
const FEWEST = 2;
const MOST = 60;
const AT_ONCE = 4;
const LOOK_TIME_MS = 10_000;

interface Parts {
  host: Pick<Host, 'publish' | 'withdraw'>;
  internet: Pick<Internet, 'prober'>;
}

/** Result of one check. */
interface ReachabilityCheck extends MonitoredDomain {
  /** Null if the check could not tell. */
  arrives: boolean | null;
}

/** Queues the checks of each minute, unless those of an earlier minute are unfinished. */
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
 * The job that checks whether visitors of each served domain still reach this platform. If reachability changed, it queues
 * a status report, which decides and says what to do.
 */
export function reachabilityMonitor(platform: Platform, { host, internet }: Parts): JobKind {
  const { config, database, clock, random } = platform;
  const { reader } = database;
  const edges = createEdgeAddressBook(config);

  return defineJob({
    ...monitorReachability,
    async run(_payload, job) {
      const { due, postponed } = await domainsDueForCheck(reader, {
        before: timestamp(clock, -EVERY_MS),
        failingBefore: timestamp(clock, -FAILING_EVERY_MS),
        limit: checksPerMinute(await countDomains(reader, MOST * ROUND_MINUTES)),
        halfway: timestamp(clock, -EVERY_MS / 2),
      });
      if (due.length + postponed.length === 0) return;
      const looks = await checkAll(due, job);
      return (transaction) => conclude(transaction, looks, postponed);
    },
  });

  async function checkAll(domains: MonitoredDomain[], job: RunningJob): Promise<ReachabilityCheck[]> {
    const looks = await mapConcurrent(domains, AT_ONCE, async (domain) => ({
      ...domain,
      arrives: await arrives(domain, job),
    }));
    // A worker that stops or has lost its lease may have missed observations.
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
      log.warn({ err, domain: name }, 'could not check the reachability of a domain');
      return null;
    }
  }

  async function conclude(
    transaction: Transaction,
    looks: ReachabilityCheck[],
    postponed: DueDomains['postponed'],
  ): Promise<void> {
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
      for (const covered of [domain, ...sibling]) reported.add(covered.id);
    }
    // After locking the installs, in the same order as requests that delete a domain.
    for (const { id } of looks) await recordCheck(queries, id, timestamp(clock), { wasChecked: true });
    for (const { id, from } of postponed) await recordCheck(queries, id, from, { wasChecked: false });
  }
}

/**
 * Whether the name leads to the edge's own addresses and nothing answers there: an outage, or a NAT through which the
 * platform cannot reach itself. That concerns the operator, not the owners of the domains.
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

/** How many domains to check in a minute. */
export function checksPerMinute(served: number): number {
  return Math.min(MOST, Math.max(FEWEST, Math.ceil(served / ROUND_MINUTES)));
}
