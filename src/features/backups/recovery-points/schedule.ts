import type { Config } from '../../../config/config.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import { MARKED_PAGE } from '../../../hosting/contract/recovery-points.ts';
import { defineJob, type JobKind, type RunningJob } from '../../../jobs/job.ts';
import { hasUnfinishedJobs } from '../../../jobs/lanes.ts';
import type { Schedule } from '../../../jobs/schedule.ts';
import { timestamp } from '../../../lib/clock.ts';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import type { Platform } from '../../../platform/platform.ts';
import { type DueInstall, dueInstalls, installsWithoutState, pointsUnderWay } from './due-store.ts';
import { recordRecoveryPoint, scheduleRecoveryPoints } from './jobs.ts';
import { periodMs } from './rules.ts';
import { addState, changeStates } from './store.ts';

/** The part of the fleet that recovery points need. */
export interface MachineSource {
  machine(hostId: string): Promise<Pick<HostMachine, 'recordPoint' | 'unchangedWebsites'>>;
}

/** Installs in one query: few enough for it to take some milliseconds. */
const PAGE = 500;
/** Pages in one run, which is each minute. */
const MOST_PAGES = 40;
/** Looks at hosts at once. */
const HOSTS_AT_ONCE = 8;
/** Recovery points of a host at once, so that its websites keep their processors and disk. */
const AT_ONCE = 2;

/** Whether recovery points are made. */
export function areRecoveryPointsMade({
  host,
  recoveryPointMinutes,
}: Pick<Config, 'host' | 'recoveryPointMinutes'>): boolean {
  return host === 'linux' && recoveryPointMinutes > 0;
}

export function recoveryPointSchedule({ queue }: Pick<Platform, 'queue'>): Schedule {
  return {
    name: scheduleRecoveryPoints.name,
    cron: '* * * * *',
    async enqueue(transaction) {
      const lane = scheduleRecoveryPoints.name;
      // A late look is left out.
      if (await hasUnfinishedJobs(transaction.queries, lane)) return;
      await queue.enqueue(transaction, scheduleRecoveryPoints, { payload: {}, lane });
    },
  };
}

/**
 * Requests recovery points of installs that are due and changed, as far as there is room; the others are late until then, and nothing is queued for
 * them. Runs again with the end of each point.
 */
export async function requestPoints(
  { config, queue, clock, random }: Pick<Platform, 'config' | 'queue' | 'clock' | 'random'>,
  transaction: Transaction,
): Promise<void> {
  const { queries } = transaction;
  const underWay = await pointsUnderWay(queries);
  // A third of the workers does long work. One more each waits, so that none is idle.
  let room = Math.max(1, Math.floor(config.workers / 3)) * 2;
  for (const count of underWay.values()) room -= count;
  if (room <= 0) return;
  const now = timestamp(clock);
  // A host with many installs that are due must not hide those of others, so each round leaves out the hosts that have no more room.
  for (let isFilling = true; isFilling && room > 0; ) {
    isFilling = false;
    const without = [...underWay].flatMap(([host, count]) => (count < AT_ONCE ? [] : [host]));
    for (const { install_id, host_id } of await dueInstalls(queries, {
      ...{ now, changed: true, limit: room, without },
    })) {
      const onHost = underWay.get(host_id) ?? 0;
      if (onHost >= AT_ONCE) continue;
      // The install may have been deleted, or have got other work.
      if (!(await lockRow(transaction, 'installs', install_id))) continue;
      if (await hasUnfinishedJobs(queries, install_id)) continue;
      await queue.enqueue(transaction, recordRecoveryPoint, {
        payload: { install_id, point_id: random.uuid() },
        lane: install_id,
      });
      underWay.set(host_id, onHost + 1);
      room -= 1;
      isFilling = true;
    }
  }
}

/** The job that looks at all installs that are due. */
export function scheduleKind(platform: Platform, fleet: MachineSource): JobKind {
  const { config, database, clock, random } = platform;
  const period = periodMs(config.recoveryPointMinutes);

  /** The first looks are spread over the time between two. */
  async function addStates(queries: Queries): Promise<number> {
    const added = await installsWithoutState(queries, PAGE);
    for (const { id, seq } of added) {
      const due_at = timestamp(clock, random.fraction() * period);
      await addState(queries, { install_id: id, install_seq: seq, due_at });
    }
    return added.length;
  }

  async function lookAt(hostId: string, installs: readonly DueInstall[], job: RunningJob): Promise<void> {
    const machine = await fleet.machine(hostId);
    for (let start = 0; start < installs.length; start += MARKED_PAGE) {
      job.signal.throwIfAborted();
      const page = installs.slice(start, start + MARKED_PAGE);
      const at = timestamp(clock);
      const due_at = timestamp(clock, period);
      const marked = page.flatMap(({ install_id: installId, mark }) =>
        mark === null ? [] : [{ installId, mark }],
      );
      const found = new Set(await machine.unchangedWebsites(marked));
      const ids = page.map(({ install_id }) => install_id);
      const unchanged = ids.filter((id) => found.has(id));
      const changed = ids.filter((id) => !found.has(id));
      await database.write(async ({ queries }) => {
        await changeStates(queries, unchanged, { covered_at: at, due_at, reason: null });
        await changeStates(queries, changed, { mark: null });
      });
    }
  }

  return defineJob({
    ...scheduleRecoveryPoints,
    async run(_payload, job) {
      for (let page = 0; page < MOST_PAGES; page++) {
        job.signal.throwIfAborted();
        if ((await database.write(({ queries }) => addStates(queries))) < PAGE) break;
      }
      const now = timestamp(clock);
      const silent = new Set<string>();
      // Those that were looked at are due later, or known to have changed.
      for (let page = 0; page < MOST_PAGES; page++) {
        const due = await dueInstalls(database.reader, {
          ...{ now, changed: false, limit: PAGE, without: [...silent] },
        });
        if (due.length === 0) break;
        const byHost = Map.groupBy(due, ({ host_id }) => host_id);
        await mapConcurrent([...byHost], HOSTS_AT_ONCE, ([hostId, installs]) =>
          lookAt(hostId, installs, job).catch((err: unknown) => {
            job.signal.throwIfAborted();
            job.log.warn({ err, host: hostId }, 'could not ask a host which websites changed; will retry');
            silent.add(hostId);
          }),
        );
      }
      return (transaction) => requestPoints(platform, transaction);
    },
  });
}
