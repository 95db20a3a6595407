import { Readable } from 'node:stream';
import type { LiveListener } from './follower.ts';

/** Interval of keep-alive comments, short enough for the idle timeouts of proxies. */
const COMMENT_MS = 20_000;
/** Milliseconds before a browser reconnects. */
const RETRY_MS = 2_000;
/** Bytes that may wait unread. A slower client is disconnected, and reloads everything when it reconnects. */
const MAX_UNREAD_BYTES = 64 * 1024;

/** A stream of server-sent events (HTML, section 9.2). It follows changes until it is destroyed. */
export function eventStream(follow: (listener: LiveListener) => () => void): Readable {
  let stop = () => {};
  let over = false;
  /** Written together, because each write takes a TLS record and a system call. */
  let pending = '';
  const stream = new Readable({
    read() {},
    destroy(error, done) {
      over = true;
      clearInterval(comments);
      stop();
      done(error);
    },
  });
  const flush = () => {
    if (pending !== '' && !stream.destroyed) stream.push(pending);
    pending = '';
  };
  const send = (text: string) => {
    if (over) return;
    if (stream.readableLength + pending.length > MAX_UNREAD_BYTES) {
      stream.destroy();
      return;
    }
    if (pending === '') queueMicrotask(flush);
    pending += text;
  };
  const comments = setInterval(() => send(':\n\n'), COMMENT_MS).unref();
  send(`retry: ${RETRY_MS}\n\n`);
  try {
    stop = follow({
      changed: (change) => send(`event: change\ndata: ${JSON.stringify(change)}\n\n`),
      resync: () => send('event: resync\ndata: {}\n\n'),
      ended() {
        if (over) return;
        over = true;
        flush();
        stream.push(null);
      },
    });
  } catch (error) {
    stream.destroy();
    throw error;
  }
  return stream;
}
