import { Readable } from 'node:stream';

/**
 * Wraps a stream. It fails with `error()` if the source keeps the reader waiting for `timeoutMs`. Time in which the reader
 * does not read does not count. Destroying the result destroys the source.
 */
export function withProgressTimeout(
  source: Readable,
  timeoutMs: number,
  error: (cause?: unknown) => Error,
): Readable {
  let timer: NodeJS.Timeout | undefined;

  function wait(): void {
    clearTimeout(timer);
    timer = setTimeout(() => result.destroy(error()), timeoutMs);
  }

  const result = new Readable({
    read() {
      wait();
      source.resume();
    },
    destroy(cause, done) {
      clearTimeout(timer);
      source.destroy();
      done(cause);
    },
  });
  source.on('data', (chunk: Buffer) => {
    if (result.push(chunk)) {
      wait();
    } else {
      clearTimeout(timer);
      source.pause();
    }
  });
  source.on('end', () => {
    clearTimeout(timer);
    result.push(null);
  });
  source.on('error', (cause) => result.destroy(error(cause)));
  source.pause();
  return result;
}
