import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { SESSION_KEY } from '../session/session.ts';
import { type Change, concerns, parseChange } from './change.ts';
import { followStream } from './stream.ts';

/** Changes come in bursts: what they concern is loaded again once for all of them. */
const GATHER_MS = 250;
/** Where changes do not end, whole lists are loaded no more often than this. */
const LEAST_BETWEEN_MS = 2_000;

/** While it is mounted, what others change is loaded again as they change it. */
export function useLiveChanges(): void {
  const queries = useQueryClient();
  useEffect(() => {
    let gathered: Change[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    let loadedAt = 0;
    const load = () => {
      loadedAt = performance.now();
      const changes = gathered;
      gathered = [];
      timer = undefined;
      queries.invalidateQueries({
        predicate: ({ queryKey }) => changes.some((change) => concerns(change, queryKey)),
      });
    };
    const leave = followStream(new URL('portal/api/events', document.baseURI), {
      change(text) {
        const change = parseChange(text);
        if (change) gathered.push(change);
        timer ??= setTimeout(load, Math.max(GATHER_MS, loadedAt + LEAST_BETWEEN_MS - performance.now()));
      },
      resync: () => void queries.invalidateQueries(),
      refused: () => void queries.invalidateQueries({ queryKey: SESSION_KEY }),
    });
    return () => {
      clearTimeout(timer);
      leave();
    };
  }, [queries]);
}
