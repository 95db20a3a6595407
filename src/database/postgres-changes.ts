import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import type { ChangeSink, ChangeSource } from './change-feed.ts';
import { parseChangeText } from './change-schema.ts';

/** The name of its connection. Every process that serves has one. */
export const CHANGES_APPLICATION = 'homeport changes';
/** The channel that the triggers notify (migration 0005). */
const CHANNEL = 'homeport_changes';
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;
/** Interval and timeout of the connection's health check. */
const HEARTBEAT_MS = 20_000;
const REPLY_MS = 10_000;

/**
 * Listens on a separate, direct connection, because a pooled connection gets no notifications. Reconnects after a failure.
 */
export function postgresChanges(url: string, log: Logger): ChangeSource {
  return (sink) => {
    const ending = new AbortController();
    const running = keepFollowing(url, sink, ending.signal, log);
    return {
      close() {
        ending.abort();
        return running;
      },
    };
  };
}

async function keepFollowing(url: string, sink: ChangeSink, signal: AbortSignal, log: Logger): Promise<void> {
  let wait = FIRST_WAIT_MS;
  while (!signal.aborted) {
    try {
      await follow(
        url,
        {
          ...sink,
          on() {
            wait = FIRST_WAIT_MS;
            sink.on();
          },
        },
        signal,
      );
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error }, 'the change feed was interrupted; reconnecting to the database');
    }
    sink.off();
    await sleep(wait, undefined, { signal, ref: false }).catch(() => {});
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

/** Follows one connection until it breaks (and throws) or `signal` ends it. */
async function follow(url: string, sink: ChangeSink, signal: AbortSignal): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: REPLY_MS,
    query_timeout: REPLY_MS,
    keepAlive: true,
    application_name: CHANGES_APPLICATION,
  });
  const broken = Promise.withResolvers<never>();
  // Awaited only below. Until then it must not count as unhandled.
  broken.promise.catch(() => {});
  client.on('error', broken.reject);
  client.on('end', () => broken.reject(new Error('the connection was closed')));
  client.on('notification', ({ payload = '' }) => {
    const change = parseChangeText(payload);
    if (change) sink.changed(change);
    else sink.on();
  });
  const stop = () => broken.reject(new Error('the last listener has unsubscribed'));
  signal.addEventListener('abort', stop);
  try {
    await Promise.race([broken.promise, client.connect()]);
    await client.query(`listen ${CHANNEL}`);
    if (signal.aborted) return;
    sink.on();
    for (;;) {
      await Promise.race([broken.promise, sleep(HEARTBEAT_MS, undefined, { signal, ref: false })]);
      await client.query('select 1');
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await client.end().catch(() => {});
  }
}
