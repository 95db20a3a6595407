import type { Logger } from 'pino';
import type { Transaction } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import type { WantedUpdates } from '../../hosting/contract/wordpress-updates.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import { hasUnfinishedJobs } from '../../jobs/lanes.ts';
import type { Schedule } from '../../jobs/schedule.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import type { CapabilityReader } from '../hosts/capabilities.ts';
import type { HeldWordPress } from '../hosts/held-wordpress.ts';
import { findInstallStatus } from '../websites/installs/website-store.ts';
import { scheduleUpdates } from './jobs.ts';
import { mailStoppedRollout } from './mails.ts';
import { isDue, isInWindow, nightlyWindow, wantedCore } from './policy.ts';
import { enqueueUpdate } from './request.ts';
import { beginRollout, findRollout, stopRollout } from './rollout-store.ts';
import { countAttempts, triedInstalls } from './rollouts.ts';
import {
  type Candidate,
  coreAttempts,
  countOpenScheduled,
  lostUpdates,
  noteLook,
  scheduleCandidates,
} from './schedule-store.ts';
import { countOpen, endUpdate } from './store.ts';
import { isFailingTooOften, roomInWave } from './waves.ts';

/** Scheduled updates that are requested or run at once. Those in progress end even if their rollout stops. */
const MOST_AT_ONCE = 50;
/** Longer than any update waits and runs. */
const LOST_AFTER_MS = 2 * DAY_MS;
const LOST = 'The update ended without a result. Check the website; its checkpoint is among the backups.';

/** An update that is due. */
interface DueUpdate {
  installId: string;
  wanted: WantedUpdates;
}

/** The job that requests scheduled updates. Releases of WordPress come first, in waves. */
export function scheduleKind(
  platform: Platform,
  capabilities: Pick<CapabilityReader, 'ofMany'>,
  heldWordPress: HeldWordPress,
): JobKind {
  const { config, database, queue, clock } = platform;
  const { reader } = database;

  /** The installs whose host updates them, such as not without PHP. */
  async function updatable(log: Logger): Promise<Candidate[]> {
    const candidates = await scheduleCandidates(
      reader,
      { now: timestamp(clock), isEmbedded: config.host === 'embedded' },
      (install, err) =>
        log.error({ err, install }, 'the update policy of an install cannot be read; its updates wait'),
    );
    const known = await capabilities.ofMany(reader, candidates, 'wordpress_updates');
    return known.flatMap(({ install, state }) => (state.available ? [install] : []));
  }

  /** The candidates that a release waits for, by release. */
  async function byRelease(candidates: readonly Candidate[]): Promise<Map<string, Candidate[]>> {
    const held = new Map<string | null, string[]>();
    for (const { host_id } of candidates) {
      if (!held.has(host_id)) held.set(host_id, await heldWordPress(reader, host_id));
    }
    const releases = new Map<string, Candidate[]>();
    for (const candidate of candidates) {
      const { host_id, wordpress_version, policy, isDeferred } = candidate;
      if (isDeferred) continue;
      const version = wantedCore(policy.core, wordpress_version, held.get(host_id) ?? []);
      if (version === null) continue;
      const wanting = releases.get(version);
      if (wanting === undefined) releases.set(version, [candidate]);
      else wanting.push(candidate);
    }
    return releases;
  }

  /** The updates to a release that may begin now. Stops its rollout after too many rollbacks and failures. */
  async function dueForRelease(
    version: string,
    wanting: readonly Candidate[],
    log: Logger,
  ): Promise<DueUpdate[]> {
    const now = clock.now();
    const attempts = await coreAttempts(reader, version);
    const tried = triedInstalls(attempts, now);
    const waiting = wanting.filter(({ id }) => !tried.has(id));
    const rollout = (await findRollout(reader, version)) ?? { resumed_at: null, stopped_at: null };
    if (rollout.stopped_at !== null) return [];
    const counts = { ...countAttempts(attempts, rollout), waiting: waiting.length };
    if (isFailingTooOften(counts)) {
      const { rolledBack, failed, succeeded } = counts;
      const reason = `${rolledBack + failed} of ${rolledBack + failed + succeeded} updates to WordPress ${version} were rolled back or failed.`;
      await database.write(async (transaction) => {
        await stopRollout(transaction.queries, version, { stopped_at: timestamp(clock), reason });
        if (config.operatorEmail === null) return;
        const payload = { to: config.operatorEmail, version, reason };
        await queue.enqueue(transaction, mailStoppedRollout, { payload, lane: null });
      });
      log.error(
        { version, ...counts },
        `the rollout of WordPress ${version} was stopped: ${reason} "homeport rollout resume ${version}" continues it`,
      );
      return [];
    }
    return waiting
      .filter(({ policy }) => isInWindow(policy.window, now))
      .slice(0, roomInWave(counts))
      .map(({ id }) => ({ installId: id, wanted: { core: version, plugins: [], themes: [] } }));
  }

  function dueItems({ id, policy, plugins_at, themes_at }: Candidate): DueUpdate[] {
    const now = clock.now();
    if (!isInWindow(policy.window ?? nightlyWindow(id), now)) return [];
    const plugins = isDue(policy.plugins, plugins_at, now);
    const themes = isDue(policy.themes, themes_at, now);
    if (!plugins && !themes) return [];
    return [
      {
        installId: id,
        wanted: { core: null, plugins: plugins ? 'all' : [], themes: themes ? 'all' : [] },
      },
    ];
  }

  async function begin(transaction: Transaction, { installId, wanted }: DueUpdate): Promise<void> {
    const { queries } = transaction;
    if (!(await lockRow(transaction, 'installs', installId))) return;
    // Since the candidates were read, it may have become another.
    if (
      (await findInstallStatus(queries, installId)) !== 'active' ||
      (await countOpen(queries, installId)) > 0
    ) {
      return;
    }
    const now = timestamp(clock);
    if (wanted.core !== null) await beginRollout(queries, wanted.core, now);
    else {
      await noteLook(queries, installId, {
        ...(wanted.plugins === 'all' ? { plugins_at: now } : {}),
        ...(wanted.themes === 'all' ? { themes_at: now } : {}),
      });
    }
    await enqueueUpdate(platform, transaction, { installId, wanted, cause: 'schedule' });
  }

  return defineJob({
    ...scheduleUpdates,
    async run(_payload, { log, signal }) {
      const candidates = await updatable(log);
      const due: DueUpdate[] = [];
      for (const [version, wanting] of await byRelease(candidates)) {
        signal.throwIfAborted();
        due.push(...(await dueForRelease(version, wanting, log)));
      }
      const withCore = new Set(due.map(({ installId }) => installId));
      due.push(...candidates.filter(({ id }) => !withCore.has(id)).flatMap(dueItems));
      const room = Math.max(0, MOST_AT_ONCE - (await countOpenScheduled(reader)));
      const lost = await lostUpdates(reader, timestamp(clock, -LOST_AFTER_MS));
      return async (transaction) => {
        for (const id of lost) {
          const end = { status: 'failed' as const, reason: LOST, finished_at: timestamp(clock) };
          await endUpdate(transaction.queries, id, end);
        }
        for (const update of due.slice(0, room)) await begin(transaction, update);
      };
    },
  });
}

/** Looks every five minutes, so that updates begin soon after their window. */
export function updateSchedule({ queue }: Pick<Platform, 'queue'>): Schedule {
  return {
    name: scheduleUpdates.name,
    cron: '*/5 * * * *',
    async enqueue(transaction) {
      if (await hasUnfinishedJobs(transaction.queries, scheduleUpdates.name)) return;
      await queue.enqueue(transaction, scheduleUpdates, { payload: {}, lane: scheduleUpdates.name });
    },
  };
}
