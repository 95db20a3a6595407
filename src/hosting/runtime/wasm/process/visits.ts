/** Messages that came before their request, at most. They come in other connections. */
const MOST_EARLY = 1_000;

/** The requests of visitors, and which visitors have left. */
export interface Visits {
  /** `leave` is called if the visitor leaves before the answer has ended. */
  begin(
    id: string,
    leave: () => void,
    response: { once(event: 'close', listener: () => void): unknown },
  ): void;
  leave(id: string): void;
}

export function createVisits(): Visits {
  const present = new Map<string, () => void>();
  const early = new Set<string>();

  return {
    begin(id, leave, response) {
      if (early.delete(id)) return leave();
      present.set(id, leave);
      response.once('close', () => present.delete(id));
    },
    leave(id) {
      const leave = present.get(id);
      if (leave !== undefined) return leave();
      // Or its request has ended already, which nothing tells apart.
      const [oldest] = early;
      if (early.size >= MOST_EARLY && oldest !== undefined) early.delete(oldest);
      early.add(id);
    },
  };
}
