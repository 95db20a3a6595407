import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { coalesce, type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import type { AccessLogs, LoggedRequest } from '../../websites/logs/access-logs.ts';
import { createRareLog } from '../rare-log.ts';

/** Answered requests on their way to the access logs. */
export interface RequestLog {
  /** Takes a request, without waiting for the disk. */
  add(request: LoggedRequest): void;
  /** Resolves once all requests so far are in the logs. */
  flush(): Promise<void>;
  start(): void;
  /** Writes what is left. */
  stop(): Promise<void>;
}

export interface RequestLogOptions {
  accessLogs: AccessLogs;
  log: Logger;
  clock: Clock;
  /** Characters of requests that may wait. */
  mostWaiting?: number;
}

/** As nginx does on a Linux host. */
const FLUSH_MS = 1_000;
const MOST_WAITING = 16 * 1024 * 1024;

/** Writes many requests at once. If the disk cannot follow, further ones are left out, so that they do not take the memory. */
export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { accessLogs, log, clock, mostWaiting = MOST_WAITING } = options;
  const rarely = createRareLog(clock);
  let waiting: LoggedRequest[] = [];
  /** Characters of the waiting requests, and of those that are being written. */
  let length = 0;
  let flushes: Repetition | undefined;

  const writeAll = coalesce(async () => {
    const requests = waiting;
    waiting = [];
    await accessLogs.append(requests);
    for (const { answer } of requests) length -= answer.length;
  });

  return {
    add(request) {
      if (length + request.answer.length > mostWaiting) {
        rarely('requests', (leftOut) =>
          log.warn({ leftOut }, 'requests are left out of the access logs, because the disk is too slow'),
        );
        return;
      }
      length += request.answer.length;
      waiting.push(request);
    },
    flush: writeAll,
    start() {
      flushes ??= repeatEvery(writeAll, {
        delayMs: FLUSH_MS,
        onError: (err) => log.error({ err }, 'could not write the access logs'),
      });
    },
    async stop() {
      await flushes?.stop();
      flushes = undefined;
      await writeAll();
    },
  };
}
