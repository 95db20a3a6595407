/** What a change is about. `activity`: the record of changes itself has grown. */
export const TOPICS = [
  'account',
  'member',
  'site',
  'install',
  'domain',
  'backup',
  'report',
  'offload',
  'operation',
  'activity',
] as const;
export type Topic = (typeof TOPICS)[number];

/** Something of an account was made, changed or deleted, by whatever process. It says what, and not how it stands now. */
export interface DatabaseChange {
  topic: Topic;
  account_id: string;
  /** The install that it belongs to or is. */
  install_id: string | null;
  /** Of the thing itself, where it has an id of its own. */
  id: string | null;
  /** Of `member`: whose membership; of `activity`: who made the change that was written down. */
  user_id: string | null;
}

export interface ChangeListener {
  /** After the commit. The same change may be told more than once. */
  changed(change: DatabaseChange): void;
  /**
   * Changes are seen from now on; earlier ones may have been missed. Comes first, once the feed is on, and again whenever
   * it was interrupted.
   */
  resync(): void;
}

/** The database's changes as they are committed, by this process or another. */
export interface ChangeFeed {
  /** Listens until the returned function is called. Nothing is called before this returns. */
  subscribe(listener: ChangeListener): () => void;
}

/** What a source of changes tells. */
export interface ChangeSink {
  changed(change: DatabaseChange): void;
  /** Changes are seen from now on. */
  on(): void;
  /** They are not, for the time being. */
  off(): void;
}

/** Watches the database until it is closed. */
export type ChangeSource = (sink: ChangeSink) => { close(): Promise<void> };

/** Many listeners to one source, which is open only while somebody listens. */
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
