import { describe, expect, test } from 'vitest';
import { manualClock } from '../../../test/manual-clock.ts';
import { type FollowedJob, followJob, type SeenJob } from './follow-job.ts';

const queued: SeenJob = { state: 'queued', error: null, attempt: 0 };
const running: SeenJob = { state: 'running', error: null, attempt: 1 };
const done: SeenJob = { state: 'succeeded', error: null, attempt: 1 };

/** A job that is what `stateAt` says so many ms after the beginning, and what this process did about it. */
function following(changes: {
  stateAt(ms: number, ownWorker: boolean): SeenJob | null;
  liveAt(ms: number): boolean;
  /** Whether another process begins before this one. */
  isFirstAt?(ms: number): boolean;
  /** Whether the worker of this process stops on request; true if left out. */
  stops?: boolean;
  /** Whether a server waits for the worker of this process. */
  isServerWaitingAt?(ms: number): boolean;
  abortAt?: number;
}) {
  const clock = manualClock();
  const begun = clock.now().getTime();
  const elapsed = () => clock.now().getTime() - begun;
  const interrupted = new AbortController();
  const seen = { started: [] as number[], stopped: [] as number[], reported: [] as string[] };
  const job: FollowedJob = {
    find: async () => changes.stateAt(elapsed(), seen.started.length > 0),
    hasLiveWorker: async () => changes.liveAt(elapsed()),
    async startWorker() {
      if (changes.isFirstAt?.(elapsed()) === false) return null;
      seen.started.push(elapsed());
      return {
        async stop(graceMs) {
          seen.stopped.push(graceMs);
          return changes.stops ?? true;
        },
      };
    },
    isServerWaiting: () => changes.isServerWaitingAt?.(elapsed()) ?? false,
    report: ({ state }) => seen.reported.push(state),
    clock,
    async sleep(ms) {
      clock.advance(ms);
      if (elapsed() >= (changes.abortAt ?? Number.POSITIVE_INFINITY)) interrupted.abort();
      if (elapsed() > 60_000) throw new Error('it waits for ever');
    },
    signal: interrupted.signal,
  };
  return { seen, elapsed, ended: followJob(job) };
}

describe('waiting for a job', () => {
  test('a running server carries it out, and this process only looks', async () => {
    const { seen, ended } = following({
      stateAt: (ms) => (ms < 1_000 ? queued : ms < 3_000 ? running : done),
      liveAt: () => true,
    });
    expect(await ended).toEqual(done);
    expect(seen.started).toEqual([]);
    expect(new Set(seen.reported)).toEqual(new Set(['queued', 'running', 'succeeded']));
  });

  test('without a worker, this process carries it out at once, and ends its worker in peace', async () => {
    const { seen, ended } = following({
      stateAt: (_ms, ownWorker) => (ownWorker ? done : queued),
      liveAt: () => false,
    });
    expect(await ended).toEqual(done);
    expect(seen.started).toEqual([0]);
    expect(seen.stopped).toEqual([10_000]);
  });

  test('a server that was killed looks alive for 10 s and holds it up for 12 at most', async () => {
    const { seen, elapsed, ended } = following({
      stateAt: (_ms, ownWorker) => (ownWorker ? done : queued),
      liveAt: (ms) => ms < 10_000,
    });
    expect(await ended).toEqual(done);
    expect(seen.started).toHaveLength(1);
    expect(elapsed()).toBeLessThanOrEqual(12_000);
  });

  test('a server that ends while it works on it is stood in for', async () => {
    const { seen, ended } = following({
      stateAt: (ms, ownWorker) => (ms < 5_000 ? running : ownWorker && ms > 15_000 ? done : running),
      liveAt: (ms) => ms < 5_000,
    });
    expect(await ended).toEqual(done);
    expect(seen.started).toEqual([6_000]);
  });

  test('a process that begins at the same moment is left to it, until it ends', async () => {
    const { seen, ended } = following({
      stateAt: (_ms, ownWorker) => (ownWorker ? done : queued),
      liveAt: () => false,
      isFirstAt: (ms) => ms > 3_000,
    });
    expect(await ended).toEqual(done);
    expect(seen.started).toEqual([4_000]);
  });

  test('a server that starts takes over at once', async () => {
    const { seen, ended } = following({
      stateAt: (ms) => (ms < 5_000 ? running : done),
      liveAt: (ms) => ms >= 3_000,
      isServerWaitingAt: (ms) => ms >= 2_500 && ms < 3_000,
    });
    expect(await ended).toEqual(done);
    expect(seen.started).toEqual([0]);
    expect(seen.stopped).toEqual([0]);
  });

  test('a worker that does not stop ends the command when a server starts, but not the outcome of a job', async () => {
    const handedOver = following({
      stateAt: () => running,
      liveAt: () => false,
      isServerWaitingAt: (ms) => ms >= 2_500,
      stops: false,
    });
    await expect(handedOver.ended).rejects.toThrow('The server continues the job.');
    const completed = following({
      stateAt: (ms) => (ms < 500 ? running : done),
      liveAt: () => false,
      stops: false,
    });
    expect(await completed.ended).toEqual(done);
  });

  test('an interruption ends the waiting, and gives back at once what this process works on', async () => {
    const { seen, ended } = following({ stateAt: () => running, liveAt: () => false, abortAt: 1_000 });
    expect(await ended).toBeUndefined();
    expect(seen.stopped).toEqual([0]);
  });

  test('a failure is handed back as it is; the worker is stopped even if looking fails', async () => {
    const failed: SeenJob = { state: 'failed', error: 'the archive is damaged', attempt: 1 };
    expect(await following({ stateAt: () => failed, liveAt: () => true }).ended).toEqual(failed);
    const vanishing = following({ stateAt: (ms) => (ms < 1_000 ? queued : null), liveAt: () => false });
    await expect(vanishing.ended).rejects.toThrow('vanished');
    expect(vanishing.seen.stopped).toHaveLength(1);
  });
});
