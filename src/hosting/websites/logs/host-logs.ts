import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { mapConcurrent, type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import type { LogPage, LogQuery } from '../../contract/logs.ts';
import type { Records } from '../../runtime/runtime.ts';
import { createInstallLogs, type InstallLogs } from './install-logs.ts';
import { createPhpLogReader } from './php-log-reader.ts';
import { createQuietLogs } from './quiet-logs.ts';
import { readLog } from './read-log.ts';
import { createReadingTurns } from './reading-turns.ts';
import { deleteOld, type LogRules, tendLogs } from './upkeep.ts';

/** The logs of all installs of this host. */
export interface HostLogs extends Pick<InstallLogs, 'append' | 'appendLines'> {
  /** Starts copying PHP's errors, and deleting, shortening and compressing old entries. */
  start(): void;
  stop(): Promise<void>;
  /** Copies what PHP of this install has logged so far. */
  collectErrors(installId: string): Promise<void>;
  read(installId: string, query: LogQuery, signal?: AbortSignal): Promise<LogPage>;
}

export interface HostLogsOptions {
  recordsOf(installId: string): Records;
  rules: LogRules;
  /** Ids of the current installs. */
  installs(): readonly string[] | Promise<readonly string[]>;
  /** Called for each install once an hour. */
  eachHour?(installId: string): Promise<void>;
  clock: Clock;
  log: Logger;
  /** Milliseconds between rounds of reading PHP's errors. */
  errorsEveryMs?: number;
}

const ERRORS_EVERY_MS = 10_000;
const INSTALLS_AT_ONCE = 4;
/** Pause between two installs, so that the hourly work does not slow down the host. */
const PAUSE_MS = 20;
/** A search ends after this time with what it has found. */
const SEARCH_MS = 4_000;
/** Installs whose logs are read. A compressed part of a log is decompressed in memory. */
const READERS_AT_ONCE = 2;

export function createHostLogs(options: HostLogsOptions): HostLogs {
  const { recordsOf, rules, installs, eachHour, clock, log, errorsEveryMs = ERRORS_EVERY_MS } = options;
  const folderOf = (installId: string) => recordsOf(installId).logs;
  const logs = createInstallLogs({
    folderOf,
    clock,
    log,
    days: rules.days,
    grown: (installId) =>
      void deleteOld(folderOf(installId), rules, clock.now()).catch((err: unknown) =>
        log.error({ err, install: installId }, 'could not delete old logs'),
      ),
  });
  const errors = createPhpLogReader({ recordsOf, logs, clock });
  const quiet = createQuietLogs();
  const inTurn = createReadingTurns(READERS_AT_ONCE);
  let stopping = new AbortController();
  let repetitions: Repetition[] = [];

  async function collectErrors(installId: string): Promise<void> {
    quiet.looked(installId, await errors.read(installId));
  }

  async function collectAllErrors(): Promise<void> {
    const ids = await installs();
    const present = new Set(ids);
    errors.forgetAllBut(present);
    await mapConcurrent(ids.filter(quiet.isDue), INSTALLS_AT_ONCE, (id) =>
      forOne(id, "could not read PHP's errors", () => collectErrors(id)),
    );
    quiet.nextRound(present);
  }

  async function tendAll(): Promise<void> {
    for (const id of await installs()) {
      if (stopping.signal.aborted) return;
      await forOne(id, 'could not tend the logs of an install', async () => {
        await eachHour?.(id);
        await tendLogs(folderOf(id), id, { logs, rules, now: clock.now() });
      });
      await wait(PAUSE_MS, undefined, { ref: false });
    }
  }

  /** The install may have been removed meanwhile. */
  async function forOne(installId: string, failure: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (err) {
      if (!hasCode(err, 'ENOENT')) log.error({ err, install: installId }, failure);
    }
  }

  return {
    append: logs.append,
    appendLines: logs.appendLines,
    collectErrors,
    start() {
      if (repetitions.length > 0) return;
      stopping = new AbortController();
      const onError = (err: unknown) => log.error({ err }, 'could not keep the logs of installs');
      repetitions = [
        repeatEvery(collectAllErrors, { delayMs: errorsEveryMs, onError }),
        repeatEvery(tendAll, { delayMs: HOUR_MS, onError, immediately: true }),
      ];
    },
    async stop() {
      stopping.abort();
      await Promise.all(repetitions.splice(0).map((repetition) => repetition.stop()));
    },
    read: (installId, query, signal) =>
      inTurn(installId, signal, () =>
        readLog(folderOf(installId), query, {
          now: () => performance.now(),
          withinMs: SEARCH_MS,
          today: clock.now().toISOString().slice(0, 10),
          signal,
        }),
      ),
  };
}
