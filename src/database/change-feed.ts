/** The subject of a change. `activity`: the activity log has a new entry. `notification`: of the user `user_id` alone. */
export const TOPICS = [
  'account',
  'member',
  'site',
  'transfer',
  'install',
  'domain',
  'backup',
  'report',
  'offload',
  'rules',
  'operation',
  'activity',
  'notification',
] as const;
export type Topic = (typeof TOPICS)[number];

/** Something in an account was created, changed or deleted, by any process. Names the object without its present state. */
export interface DatabaseChange {
  topic: Topic;
  account_id: string;
  /** The install that the object belongs to or is. */
  install_id: string | null;
  /** Id of the object, if it has one. */
  id: string | null;
  /** For `member`: the member; for `activity`: the user who made the recorded change; for `notification`: the user who gets it. */
  user_id: string | null;
}

export interface ChangeListener {
  /** Called after the commit. The same change may be reported more than once. */
  changed(change: DatabaseChange): void;
  /**
   * Changes are reported from now on; earlier ones may have been missed. Called first when the feed is on, and again after each
   * interruption.
   */
  resync(): void;
}

/** The changes committed to the database by this process or another. */
export interface ChangeFeed {
  /** Listens until the returned function is called. Nothing is called before this returns. */
  subscribe(listener: ChangeListener): () => void;
}

/** Callbacks of a source of changes. */
export interface ChangeSink {
  changed(change: DatabaseChange): void;
  /** Changes are reported from now on. */
  on(): void;
  /** Changes are not reported for the time being. */
  off(): void;
}

/** Watches the database until it is closed. */
export type ChangeSource = (sink: ChangeSink) => { close(): Promise<void> };

/** Shares one source among many listeners. The source is open only while it has listeners. */
export function createChangeFeed(source: ChangeSource): ChangeFeed & { close(): Promise<void> } {
  const listeners = new Set<ChangeListener>();
  let watching: { close(): Promise<void> } | undefined;
  let seen = false;
  let closed: Promise<void> = Promise.resolve();

  function watch(): { close(): Promise<void> } {
    let present = true;
    const watched = source({
      changed: (change) => {
        if (present) for (const listener of [...listeners]) listener.changed(change);
      },
      on: () => {
        seen = present;
        if (present) for (const listener of [...listeners]) listener.resync();
      },
      off: () => {
        if (present) seen = false;
      },
    });
    return {
      close() {
        present = false;
        seen = false;
        return watched.close();
      },
    };
  }

  function stop(): void {
    const ending = watching?.close();
    watching = undefined;
    if (ending) closed = Promise.all([closed, ending]).then(() => {});
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      watching ??= watch();
      if (seen) queueMicrotask(() => listeners.has(listener) && seen && listener.resync());
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    close() {
      listeners.clear();
      stop();
      return closed;
    },
  };
}
