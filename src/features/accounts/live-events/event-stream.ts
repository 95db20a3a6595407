import { Readable } from 'node:stream';
import type { LiveListener } from './follower.ts';

/** Often enough that no proxy takes the connection for dead. */
const COMMENT_MS = 20_000;
/** How long a browser waits before it connects again. */
const RETRY_MS = 2_000;
/** Who lets more than this wait is cut off, and looks at everything again when they come back. */
const UNREAD_AT_MOST = 64 * 1024;

/** Server-sent events (HTML, section 9.2), from whoever follows until the stream is destroyed. */
export function eventStream(follow: (listener: LiveListener) => () => void): Readable {
  let stop = () => {};
  let over = false;
  const stream = new Readable({
    read() {},
    destroy(error, done) {
      over = true;
      clearInterval(comments);
      stop();
      done(error);
    },
  });
  const send = (text: string) => {
    if (over) return;
    if (stream.readableLength > UNREAD_AT_MOST) stream.destroy();
    else stream.push(text);
  };
  const comments = setInterval(() => send(':\n\n'), COMMENT_MS).unref();
  send(`retry: ${RETRY_MS}\n\n`);
  try {
    stop = follow({
      changed: (change) => send(`event: change\ndata: ${JSON.stringify(change)}\n\n`),
      resync: () => send('event: resync\ndata: {}\n\n'),
      ended() {
        if (!over) stream.push(null);
        over = true;
      },
    });
  } catch (error) {
    stream.destroy();
    throw error;
  }
  return stream;
}
