import type { Logger } from 'pino';
import type { NamedTexts } from '../config/settings/tracing.ts';
import type { EndedSpan } from './otlp.ts';

/** Sends spans to a collector, in batches. A slow or failing collector loses spans and delays nothing else. */
export interface Exporter {
  /** Queues a span, or drops it if too many wait. */
  add(span: EndedSpan): void;
  /** Sends what waits, once and for 2 seconds at most. */
  stop(): Promise<void>;
}

export interface ExporterParts {
  url: string;
  headers: NamedTexts;
  encode(spans: readonly EndedSpan[]): string;
  log: Logger;
  /** Replaces the times below in tests. */
  times?: Partial<ExportTimes>;
}

interface ExportTimes {
  /** Milliseconds from the first span to its batch. */
  delayMs: number;
  /** The longest pause after failures. */
  longestPauseMs: number;
  /** How long a collector may take to answer. */
  answerMs: number;
  /** How long the last spans may take at the stop. */
  lastMs: number;
}

/** The defaults of OpenTelemetry's batches. */
export const MOST_WAITING = 2_048;
export const MOST_IN_BATCH = 512;
const TIMES: ExportTimes = { delayMs: 5_000, longestPauseMs: 60_000, answerMs: 10_000, lastMs: 2_000 };
/** Statuses after which OTLP repeats a batch. Any other refusal would only repeat. */
const REPEATED: readonly number[] = [429, 502, 503, 504];

export function createExporter({ url, headers, encode, log, times }: ExporterParts): Exporter {
  const { delayMs, longestPauseMs, answerMs, lastMs } = { ...TIMES, ...times };
  const waiting: EndedSpan[] = [];
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let pauseMs = delayMs;
  let dropped = 0;
  let isFailing = false;
  let hasWarned = false;
  let isStopping = false;

  function add(span: EndedSpan): void {
    if (waiting.length >= MOST_WAITING) {
      dropped += 1;
      warn({}, 'spans come faster than the collector takes them, so some are dropped');
      return;
    }
    waiting.push(span);
    if (waiting.length >= MOST_IN_BATCH && !isFailing) send();
    else plan();
  }

  function plan(): void {
    if (timer !== undefined || sending !== undefined || isStopping) return;
    timer = setTimeout(send, pauseMs).unref();
  }

  function send(): void {
    if (sending !== undefined || isStopping) return;
    clearTimeout(timer);
    timer = undefined;
    sending = sendBatch(AbortSignal.any([stopping.signal, AbortSignal.timeout(answerMs)])).finally(() => {
      sending = undefined;
      if (waiting.length >= MOST_IN_BATCH && !isFailing) send();
      else if (waiting.length > 0) plan();
    });
  }

  /** Sends one batch. Never rejects. */
  async function sendBatch(signal: AbortSignal): Promise<void> {
    const batch = waiting.slice(0, MOST_IN_BATCH);
    try {
      const status = await post(encode(batch), signal);
      const isTaken = status >= 200 && status < 300;
      if (isTaken || !REPEATED.includes(status)) waiting.splice(0, batch.length);
      if (isTaken) return succeeded();
      if (!REPEATED.includes(status)) dropped += batch.length;
      failed({ status });
    } catch (err) {
      if (!stopping.signal.aborted) failed({ err });
    }
  }

  async function post(body: string, signal: AbortSignal): Promise<number> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      // The headers are for this address alone.
      redirect: 'manual',
      signal,
    });
    await response.body?.cancel();
    return response.status;
  }

  function succeeded(): void {
    [isFailing, pauseMs] = [false, delayMs];
    if (!hasWarned || waiting.length > 0) return;
    log.info({ count: dropped }, 'the collector takes all spans again; that many were dropped');
    [hasWarned, dropped] = [false, 0];
  }

  function failed(why: { status: number } | { err: unknown }): void {
    warn(why, 'could not send traces; spans are dropped if this goes on');
    isFailing = true;
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }

  /** Warns once until all is well again. */
  function warn(why: object, message: string): void {
    if (!hasWarned) log.warn(why, message);
    hasWarned = true;
  }

  return {
    add,
    async stop() {
      isStopping = true;
      clearTimeout(timer);
      const limit = setTimeout(() => stopping.abort(), lastMs);
      // Not aborted at once: the collector may have taken that batch already.
      await sending;
      await sendRest();
      clearTimeout(limit);
    },
  };

  /** Sends what waits, each batch once. Never rejects. */
  async function sendRest(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MOST_IN_BATCH);
      const status = await post(encode(batch), stopping.signal).catch(() => 0);
      if (status < 200 || status >= 300) {
        log.warn(
          { count: waiting.length },
          'spans were dropped at the stop, because the collector did not take them',
        );
        return;
      }
      waiting.splice(0, batch.length);
    }
  }
}
