import type { FigureSource } from '../../hosting/contract/figures.ts';
import type { Host } from '../../hosting/contract/host.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';
import type { UsageSource } from '../../hosting/contract/usage.ts';
import type { WordPressMarks } from '../../hosting/contract/wordpress.ts';
import { defineJob, type JobKind, Postponed, type RunningJob } from '../../jobs/job.ts';
import { hasUnfinishedJobs } from '../../jobs/lanes.ts';
import type { Schedule } from '../../jobs/schedule.ts';
import { timestamp } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import { postponing } from '../hosts/host-failures.ts';
import { findActiveInstall } from '../websites/installs/website-store.ts';
import { findCursor, installsToMeasure, storeMeasurement, storePage } from './collect-store.ts';
import { dayOf, MEASURED_AT } from './days.ts';
import { collectUsage, measureDaily, measureHost, measureNearlyFull, refreshStorage } from './jobs.ts';

/** A host that can be asked now, for usage, for changes of WordPress and for its figures. `host`: its id, or `embedded`. */
export interface AnsweringHost {
  host: string;
  /** Null: the embedded host. */
  hostId: string | null;
  source: UsageSource & WordPressMarks & FigureSource;
}

/** A measurement of this age is not repeated by that of each hour. */
const FRESH_MS = HOUR_MS / 2;

/** The jobs that collect traffic from hosts and measure storage. `answering`: the hosts that can be asked now. */
export function usageJobKinds(
  platform: Platform,
  host: Host,
  answering: () => Promise<AnsweringHost[]>,
): JobKind[] {
  const { database, queue, clock, log } = platform;

  async function collect({ host, source }: AnsweringHost, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const page = await source.readUsage(await findCursor(database.reader, host));
      const foreign = await database.write(({ queries }) => storePage(queries, host, page, timestamp(clock)));
      if (foreign > 0) log.debug({ host, days: foreign }, 'left out the usage of unknown installs');
      if (!page.more) return;
    }
  }

  /** A website that cannot be measured does not delay the others. */
  async function measure(install: InstallRef, { signal, log }: RunningJob): Promise<void> {
    try {
      const measured = await postponing(host.measureStorage(install, signal));
      await database.write(({ queries }) =>
        storeMeasurement(queries, install.id, measured, timestamp(clock)),
      );
    } catch (err) {
      signal.throwIfAborted();
      if (err instanceof Postponed) throw err;
      log.warn({ err, install: install.id }, 'could not measure the storage of an install');
    }
  }

  const requestOnHosts = (type: typeof measureDaily, nearly_full: boolean): JobKind =>
    defineJob({
      ...type,
      async run() {
        const hosts = await answering();
        return async (transaction) => {
          for (const { host, hostId } of hosts) {
            const lane = nearly_full ? `measure:${host}:nearly_full` : `measure:${host}`;
            if (await hasUnfinishedJobs(transaction.queries, lane)) continue;
            await queue.enqueue(transaction, measureHost, {
              payload: { host_id: hostId, nearly_full },
              lane,
            });
          }
        };
      },
    });

  return [
    defineJob({
      ...collectUsage,
      async run(_payload, { signal, log }) {
        for (const one of await answering()) {
          await collect(one, signal).catch((err: unknown) => {
            signal.throwIfAborted();
            log.warn({ err, host: one.host }, 'could not collect the usage of a host');
          });
        }
      },
    }),
    requestOnHosts(measureDaily, false),
    requestOnHosts(measureNearlyFull, true),
    defineJob({
      ...measureHost,
      async run({ host_id, nearly_full = false }, job) {
        const since = nearly_full ? timestamp(clock, -FRESH_MS) : `${dayOf(clock.now())}T00:00:00.000Z`;
        const which = { since, nearlyFull: nearly_full };
        for await (const install of installsToMeasure(database.reader, host_id, which)) {
          job.signal.throwIfAborted();
          await measure(install, job);
        }
      },
    }),
    defineJob({
      ...refreshStorage,
      async run({ install_ids }, job) {
        for (const id of install_ids) {
          job.signal.throwIfAborted();
          const install = await findActiveInstall(database.reader, id);
          if (install) await measure(install, job);
        }
      },
    }),
  ];
}

/** Collects traffic every five minutes, measures storage once a day, and that of nearly full websites every hour. */
export function usageSchedules({ queue }: Pick<Platform, 'queue'>): Schedule[] {
  return [
    {
      name: collectUsage.name,
      cron: '*/5 * * * *',
      async enqueue(transaction) {
        if (await hasUnfinishedJobs(transaction.queries, collectUsage.name)) return;
        await queue.enqueue(transaction, collectUsage, { payload: {}, lane: collectUsage.name });
      },
    },
    {
      name: measureDaily.name,
      cron: `${MEASURED_AT.minute} ${MEASURED_AT.hour} * * *`,
      async enqueue(transaction) {
        await queue.enqueue(transaction, measureDaily, { payload: {}, lane: measureDaily.name });
      },
    },
    {
      name: measureNearlyFull.name,
      cron: `${(MEASURED_AT.minute + 30) % 60} * * * *`,
      async enqueue(transaction) {
        if (await hasUnfinishedJobs(transaction.queries, measureNearlyFull.name)) return;
        await queue.enqueue(transaction, measureNearlyFull, { payload: {}, lane: measureNearlyFull.name });
      },
    },
  ];
}
