import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type Change, concerns, parseChange } from './change.ts';

/** Changes come in bursts: what they concern is loaded again once for all of them. */
const GATHER_MS = 250;

/** While it is mounted, what others change is loaded again as they change it. */
export function useLiveChanges(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const stream = new EventSource(new URL('portal/api/events', document.baseURI));
    let gathered: Change[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = () => {
      const changes = gathered;
      gathered = [];
      timer = undefined;
      queries.invalidateQueries({
        predicate: ({ queryKey }) => changes.some((change) => concerns(change, queryKey)),
      });
    };
    stream.addEventListener('change', (event) => {
      const change = parseChange(event.data);
      if (change) gathered.push(change);
      timer ??= setTimeout(load, GATHER_MS);
    });
    stream.addEventListener('resync', () => queries.invalidateQueries());
    return () => {
      clearTimeout(timer);
      stream.close();
    };
  }, [queries]);
}
