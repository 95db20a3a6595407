/** A connection of a website to the database server, which has a thread of its own. */
export interface DatabaseConnection {
  /** Number of the connection, never used again while the server runs. */
  id: string;
  user: string;
  /** The kernel's number of its thread. */
  thread: number;
  /** Processor time of the thread so far, in milliseconds. */
  usedMs: number;
}

/** Part of all processors that the connections of one user may take together before they wait for others. */
const SHARE_OF_USER = 0.5;
/** Processor time after which a connection is not a page that a visitor waits for, but a report, an import or a dump. */
const LONG_MS = 2_000;

/** The first half of a list of processors, such as `0-3,8`; null if there is only one. */
export function halfOf(list: string): string | null {
  const processors = list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  const half = processors.slice(0, Math.floor(processors.length / 2));
  return half.length === 0 ? null : half.join(',');
}

/**
 * The connections that have taken so much processor time that others go first. `before`: processor time of each connection at the
 * last look, `elapsedMs` ago.
 */
export function busyConnections(
  connections: readonly DatabaseConnection[],
  {
    before,
    elapsedMs,
    processors,
  }: { before: ReadonlyMap<string, number>; elapsedMs: number; processors: number },
): DatabaseConnection[] {
  const ofUsers = new Map<string, number>();
  for (const { id, user, usedMs } of connections) {
    // A thread of an earlier connection may have worked before.
    const recentMs = Math.min(usedMs - (before.get(id) ?? 0), elapsedMs);
    ofUsers.set(user, (ofUsers.get(user) ?? 0) + recentMs);
  }
  const mostMs = elapsedMs * processors * SHARE_OF_USER;
  return connections.filter(({ user, usedMs }) => usedMs >= LONG_MS || (ofUsers.get(user) ?? 0) > mostMs);
}
