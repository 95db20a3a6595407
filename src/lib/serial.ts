/**
 * Runs work for the same key one after the other, in the order of the calls, and for different keys side by side.
 * The failure of one does not keep the next from running.
 */
export function createSerial(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const tails = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(work, work);
    // Its caller hears of a failure through `result`; the queue only waits.
    const tail = result
      .catch(() => undefined)
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return result;
  };
}
