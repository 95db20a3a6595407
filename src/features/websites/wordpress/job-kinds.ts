import type { Transaction } from '../../../database/database.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { INVENTORY_PAGE } from '../../../hosting/contract/inventory.ts';
import type { WordPressMarks } from '../../../hosting/contract/wordpress.ts';
import { defineJob, type JobKind, PermanentFailure, type RunningJob } from '../../../jobs/job.ts';
import { hasUnfinishedJobs } from '../../../jobs/lanes.ts';
import type { Schedule } from '../../../jobs/schedule.ts';
import { timestamp } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { findActiveInstall } from '../installs/website-store.ts';
import { readWordPress, refreshWordPress, watchWordPress } from './jobs.ts';
import { requestReading } from './request-reading.ts';
import { countActive, dueInstalls, marksOf, storeFailure, storeReading } from './store.ts';

/** A host that can be asked now. */
export interface MarkedHost {
  /** Null: the embedded host. */
  hostId: string | null;
  source: WordPressMarks;
}

/** A website that changes all the time is read every five minutes. */
const PAUSE_MS = 5 * MINUTE_MS;
/** So many runs read every website once, well within a day of 720 runs. */
const RUNS = 500;
const LEAST_AT_ONCE = 10;

/** The jobs that read WordPress from hosts. `answering`: the hosts that can be asked now. */
export function wordpressJobKinds(
  platform: Platform,
  host: Host,
  answering: () => Promise<MarkedHost[]>,
): JobKind[] {
  const { database, queue, clock } = platform;

  async function read(
    { install_id, check }: { install_id: string; check: boolean },
    { signal }: RunningJob,
    { isOperation }: { isOperation: boolean },
  ) {
    const install = await findActiveInstall(database.reader, install_id);
    if (!install) return undefined;
    const reading = await permanently(postponing(host.readWordPress(install, { check }, signal)));
    if (!('refused' in reading)) {
      return (transaction: Transaction) => storeReading(transaction, install_id, reading, timestamp(clock));
    }
    const { reason: error, mark } = reading;
    // The user who asked sees why, and giveUp stores it.
    if (isOperation) throw new PermanentFailure(error, { code: 'host_refused' });
    return (transaction: Transaction) =>
      storeFailure(transaction, install_id, { error, mark, check }, timestamp(clock));
  }

  /** Installs of a host whose mark is another one than when they were read. */
  async function changedInstalls(hostId: string | null, marks: WordPressMarks): Promise<string[]> {
    const changed: string[] = [];
    const since = timestamp(clock, -PAUSE_MS);
    let after: string | null = null;
    for (;;) {
      const page = await marks.wordpressMarks(after);
      const present = new Map(page.map(({ installId, mark }) => [installId, mark]));
      if (present.size === 0) return changed;
      const known = await marksOf(database.reader, hostId, [...present.keys()], since);
      changed.push(
        ...known
          .filter(({ install_id, mark }) => present.get(install_id) !== mark)
          .map(({ install_id }) => install_id),
      );
      after = page.at(-1)?.installId ?? null;
      if (page.length < INVENTORY_PAGE) return changed;
    }
  }

  return [
    defineJob({
      ...refreshWordPress,
      run: (payload, job) => read(payload, job, { isOperation: true }),
      giveUp: ({ install_id, check }, { reason }, transaction) =>
        storeFailure(transaction, install_id, { error: reason, check }, timestamp(clock)),
    }),
    defineJob({
      ...readWordPress,
      run: (payload, job) => read(payload, job, { isOperation: false }),
      // Without a mark, so that it is not read again until its next time.
      giveUp: ({ install_id, check }, { reason }, transaction) =>
        storeFailure(transaction, install_id, { error: reason, mark: null, check }, timestamp(clock)),
    }),
    defineJob({
      ...watchWordPress,
      async run(_payload, { signal, log }) {
        const hostIds: (string | null)[] = [];
        const changed: string[] = [];
        for (const { hostId, source } of await answering()) {
          signal.throwIfAborted();
          hostIds.push(hostId);
          changed.push(
            ...(await changedInstalls(hostId, source).catch((err: unknown) => {
              log.warn({ err, host: hostId }, 'could not see which websites of a host have changed');
              return [];
            })),
          );
        }
        // The first readings are spread over the day, and so are those of all later days.
        const limit = Math.max(LEAST_AT_ONCE, Math.ceil((await countActive(database.reader)) / RUNS));
        const due = await dueInstalls(database.reader, hostIds, timestamp(clock), limit);
        return async (transaction) => {
          for (const id of due) await requestReading(transaction, queue, id, { check: true, delayMs: 0 });
          for (const id of changed) {
            if (!due.includes(id)) await requestReading(transaction, queue, id, { delayMs: 0 });
          }
        };
      },
    }),
  ];
}

/** Looks every two minutes for websites to read. */
export function wordpressSchedule({ queue }: Pick<Platform, 'queue'>): Schedule {
  return {
    name: watchWordPress.name,
    cron: '*/2 * * * *',
    async enqueue(transaction) {
      if (await hasUnfinishedJobs(transaction.queries, watchWordPress.name)) return;
      await queue.enqueue(transaction, watchWordPress, { payload: {}, lane: watchWordPress.name });
    },
  };
}
