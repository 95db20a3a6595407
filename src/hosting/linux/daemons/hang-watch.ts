import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { HOUR_MS, SECOND_MS } from '../../../lib/durations.ts';
import type { Daemons } from '../machine/daemon.ts';

const EVERY_MS = 30 * SECOND_MS;
/** Checks without an answer before a restart. */
const PATIENCE = 4;
const MOST_PATIENCE = 128;
/** A daemon that answers for so long after a restart is trusted again. */
const HEALTHY_MS = HOUR_MS;

/** Restarts a daemon that runs but no longer answers (docs/decisions/linux-services.md). */
export interface HangWatch {
  start(): void;
  /** One check. Rejects if the daemon cannot be asked, or a restart fails. */
  check(): Promise<void>;
  /** Begins no further check or restart. Waits for none: a restart can take minutes. */
  stop(): void;
}

/** The daemon says nothing at all. */
export class SilentDaemonError extends Error {
  override name = 'SilentDaemonError';
}

/** `answers` rejects with a {@link SilentDaemonError} if the daemon is silent. Other errors, such as of this process, count as no check. */
export function createHangWatch(options: {
  name: string;
  answers(): Promise<void>;
  daemons: Pick<Daemons, 'list' | 'restart'>;
  clock: Clock;
  log: Logger;
}): HangWatch {
  const { name, answers, daemons, clock } = options;
  const log = options.log.child({ daemon: name });
  let repetition: Repetition | undefined;
  /** The process that has answered. Another one may still recover from a crash, which a restart would begin again. */
  let answered: number | null = null;
  let isStopped = false;
  let silent = 0;
  let patience = PATIENCE;
  let restartedAt = Number.NEGATIVE_INFINITY;

  async function check(): Promise<void> {
    const status = (await daemons.list()).find((daemon) => daemon.name === name);
    if (status === undefined || status.pid === null || status.state !== 'running') {
      silent = 0;
      return;
    }
    try {
      await answers();
    } catch (err) {
      if (!(err instanceof SilentDaemonError)) throw err;
      if (status.pid === answered) await onSilence(err);
      return;
    }
    if (silent > 0) log.info({ checks: silent }, `${name} answers again`);
    silent = 0;
    answered = status.pid;
    if (clock.now().getTime() - restartedAt >= HEALTHY_MS) patience = PATIENCE;
  }

  async function onSilence(err: unknown): Promise<void> {
    silent += 1;
    if (silent === 1) log.warn({ err }, `${name} does not answer`);
    if (silent < patience || isStopped) return;
    log.error({ err, checks: silent }, `${name} does not answer and is restarted`);
    silent = 0;
    patience = Math.min(2 * patience, MOST_PATIENCE);
    restartedAt = clock.now().getTime();
    await daemons.restart(name);
  }

  return {
    check,
    start() {
      isStopped = false;
      repetition ??= repeatEvery(check, {
        delayMs: EVERY_MS,
        onError: (err) => log.error({ err }, `could not check or restart ${name}`),
      });
    },
    stop() {
      isStopped = true;
      // Its errors are logged.
      void repetition?.stop();
      repetition = undefined;
    },
  };
}
