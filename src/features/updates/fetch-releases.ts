import type { ReleaseFetcher } from '../../hosting/contract/wordpress-updates.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import { hasUnfinishedJobs } from '../../jobs/lanes.ts';
import type { Schedule } from '../../jobs/schedule.ts';
import { timestamp } from '../../lib/clock.ts';
import { mapConcurrent } from '../../lib/concurrency.ts';
import { messageOf } from '../../lib/error-message.ts';
import type { Platform } from '../../platform/platform.ts';
import { noteFetch } from './fetch-store.ts';
import { fetchReleases } from './jobs.ts';

/** A host that fetches releases. */
export interface FetchingHost {
  hostId: string;
  machine: ReleaseFetcher;
}

const SIDE_BY_SIDE = 4;
const LONGEST_REASON = 1_000;

/** The job that lets every host fetch new releases of WordPress. A failure is logged and shown by `doctor`; the next day it tries again. */
export function fetchReleasesKind(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  hosts: () => Promise<FetchingHost[]>,
): JobKind {
  return defineJob({
    ...fetchReleases,
    async run(_payload, { log, signal }) {
      await mapConcurrent(await hosts(), SIDE_BY_SIDE, async ({ hostId, machine }) => {
        signal.throwIfAborted();
        const { added, failures } = await machine
          .addReleases()
          .catch((error: unknown) => ({ added: [], failures: [messageOf(error)] }));
        if (added.length > 0) log.info({ host: hostId, added }, 'a host has new releases of WordPress');
        if (failures.length > 0)
          log.error({ host: hostId, failures }, 'a host could not fetch releases of WordPress');
        const reason = failures.length === 0 ? null : failures.join('; ').slice(0, LONGEST_REASON);
        await database.write(({ queries }) =>
          noteFetch(queries, hostId, { fetched_at: timestamp(clock), reason }),
        );
      });
    },
  });
}

/** Once a day, at a minute when few others ask. */
export function fetchSchedule({ queue }: Pick<Platform, 'queue'>): Schedule {
  return {
    name: fetchReleases.name,
    cron: '13 4 * * *',
    async enqueue(transaction) {
      if (await hasUnfinishedJobs(transaction.queries, fetchReleases.name)) return;
      await queue.enqueue(transaction, fetchReleases, { payload: {}, lane: fetchReleases.name });
    },
  };
}
