export interface RegularWork {
  everyMs: number;
  work(): Promise<void>;
  /** Is told what `work` fails with; it is done again at the next time all the same. */
  onFailure(error: unknown): void;
}

/** Does work at intervals from `start` to `stop`, and not while the last is under way, which may take longer than the interval. */
export function regularly({ everyMs, work, onFailure }: RegularWork): { start(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isWorking = false;

  async function workUnlessWorking(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    try {
      await work();
    } catch (error) {
      onFailure(error);
    } finally {
      isWorking = false;
    }
  }

  return {
    start() {
      clearInterval(timer);
      timer = setInterval(() => void workUnlessWorking(), everyMs).unref();
    },
    stop: () => clearInterval(timer),
  };
}
