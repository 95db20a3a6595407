import Type from 'typebox';
import { defineJob, type JobKind } from '../jobs/job.ts';
import { hasUnfinishedJobs } from '../jobs/lanes.ts';
import type { Schedule } from '../jobs/schedule.ts';
import { timestamp } from '../lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../lib/durations.ts';
import { rootMessageOf } from '../lib/error-message.ts';
import type { Platform } from '../platform/platform.ts';
import { fetchReleaseIndex } from './fetch-index.ts';
import { findReleaseCheck, storeReleaseCheck } from './release-check-store.ts';

const NAME = 'check_releases';
/** A slot of the schedule may be a little early. */
const EVERY_MS = 24 * HOUR_MS - MINUTE_MS;
/** Newer releases include older ones. */
const MOST_KEPT = 50;
const LONGEST_REASON = 500;

/**
 * Looks for releases of Homeport at most once a day (docs/decisions/watching.md). A failed look is no failed job: `homeport doctor` shows it,
 * and the next day it is tried again.
 */
export function dailyReleaseCheck({ config, queue, clock }: Platform): {
  kinds: JobKind[];
  schedules: Schedule[];
} {
  const { releasesUrl, updateCheck } = config;
  const kind = defineJob({
    name: NAME,
    payload: Type.Object({}),
    maxAttempts: 1,
    timeoutMs: 2 * MINUTE_MS,
    async run(_payload, { log, signal }) {
      if (releasesUrl === null || updateCheck === 'off') return;
      const found = await fetchReleaseIndex(releasesUrl, { signal }).then(
        ({ releases }) => ({ releases: releases.slice(0, MOST_KEPT), reason: null }),
        (error: unknown) => ({ releases: null, reason: rootMessageOf(error).slice(0, LONGEST_REASON) }),
      );
      signal.throwIfAborted();
      if (found.reason !== null) log.info({ reason: found.reason }, 'could not look for new releases');
      const releases =
        found.releases?.map(({ version, date, security, notes }) => ({ version, date, security, notes })) ??
        null;
      return ({ queries }) =>
        storeReleaseCheck(queries, { checked_at: timestamp(clock), reason: found.reason, releases });
    },
  });
  return {
    kinds: [kind],
    schedules:
      releasesUrl === null || updateCheck === 'off'
        ? []
        : [
            {
              name: NAME,
              // Each hour, so that platforms do not all ask at the same time of the day.
              cron: '51 * * * *',
              async enqueue(transaction) {
                const last = await findReleaseCheck(transaction.queries);
                // The clock may have been set back since.
                const isRecent =
                  last !== undefined &&
                  last.checked_at > timestamp(clock, -EVERY_MS) &&
                  last.checked_at <= timestamp(clock);
                if (isRecent) return;
                if (await hasUnfinishedJobs(transaction.queries, NAME)) return;
                await queue.enqueue(transaction, kind, { payload: {}, lane: NAME });
              },
            },
          ],
  };
}
