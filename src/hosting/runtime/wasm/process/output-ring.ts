/** The end of a ring at which a thread writes its output. */
export interface OutputRing {
  /** Writes a chunk in parts. `send` tells the process where each is. */
  write(chunk: Uint8Array, send: (at: number, length: number) => void): void;
}

/**
 * Waits while the ring is full, as a socket would make PHP wait. Otherwise endless output would fill the memory. `isDropped`: whether the
 * output is no longer read.
 */
export function createOutputRing(
  ring: SharedArrayBuffer,
  unread: SharedArrayBuffer,
  isDropped: () => boolean,
): OutputRing {
  const bytes = new Uint8Array(ring);
  const counter = new Int32Array(unread);
  let at = 0;
  return {
    write(chunk, send) {
      for (let from = 0; from < chunk.length; ) {
        const length = Math.min(chunk.length - from, bytes.length >> 2, bytes.length - at);
        for (
          let used = Atomics.load(counter, 0);
          used + length > bytes.length;
          used = Atomics.load(counter, 0)
        ) {
          Atomics.wait(counter, 0, used, 1000);
          if (isDropped()) return;
        }
        bytes.set(chunk.subarray(from, from + length), at);
        Atomics.add(counter, 0, length);
        send(at, length);
        from += length;
        at = (at + length) % bytes.length;
      }
    },
  };
}
