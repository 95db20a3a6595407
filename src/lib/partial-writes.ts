/** Saves the latest state of something that changes often: one write at a time, at most one every `everyMs`. */
export interface PartialWrites<State> {
  /** Schedules a write of the state, unless a newer state replaces it first. */
  offer(state: State): void;
  /** Drops the scheduled write and waits for a running one. Nothing is written afterwards. */
  end(): Promise<void>;
}

/** Creates a writer. `write` must not reject. */
export function createPartialWrites<State>(
  write: (state: State) => Promise<void>,
  everyMs: number,
): PartialWrites<State> {
  let waiting: { state: State } | null = null;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let ended = false;

  function begin(): void {
    timer = null;
    if (ended || waiting === null) return;
    const { state } = waiting;
    waiting = null;
    timer = setTimeout(next, everyMs);
    writing = write(state).finally(() => {
      writing = null;
      if (timer === null) begin();
    });
  }

  function next(): void {
    timer = null;
    if (writing === null) begin();
  }

  return {
    offer(state) {
      if (ended) return;
      waiting = { state };
      if (timer === null && writing === null) begin();
    },
    async end() {
      ended = true;
      waiting = null;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await writing;
    },
  };
}
