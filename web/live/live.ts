import type { QueryClient } from '@tanstack/react-query';
import { SESSION_KEY } from '../api/query-keys.ts';
import { type Change, concerns, parseChange } from './change.ts';
import { connection } from './connected.ts';
import { loadAgain } from './load-again.ts';
import { reloadAfterOpening } from './reload-after-opening.ts';
import { shareStream } from './shared-stream.ts';
import { followStream, type StreamListener } from './stream.ts';
import { whileVisible } from './while-visible.ts';

/** Changes arrive in bursts. One reload covers all changes of this time. */
const GATHER_MS = 250;
/** Minimum time between reloads while changes keep arriving, because a reload may load whole lists. */
const LEAST_BETWEEN_MS = 2_000;

/**
 * Reloads what others change while the page is visible, until the returned function is called. All windows of the same user in this browser
 * share one connection.
 */
export function followChanges(queries: QueryClient, userId: string): () => void {
  const address = new URL('portal/api/events', document.baseURI).href;
  let gathered: Change[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let isFirstStream = true;
  let stopWaiting = () => {};
  const load = () => {
    loadedAt = performance.now();
    const changes = gathered;
    gathered = [];
    timer = undefined;
    loadAgain(queries, ({ queryKey }) => changes.some((change) => concerns(change, queryKey)));
  };
  const listener: StreamListener = {
    opened: connection.opened,
    broken: connection.broken,
    change(text) {
      const change = parseChange(text);
      if (change) gathered.push(change);
      timer ??= setTimeout(load, Math.max(GATHER_MS, loadedAt + LEAST_BETWEEN_MS - performance.now()));
    },
    resync() {
      if (isFirstStream) stopWaiting = reloadAfterOpening(queries);
      else void queries.invalidateQueries();
      isFirstStream = false;
    },
    refused: () => void queries.invalidateQueries({ queryKey: SESSION_KEY }),
  };
  const leave = whileVisible(() => {
    const stop = shareStream(`${address} ${userId}`, (to) => followStream(address, to), listener);
    return () => {
      stop();
      // A hidden page does not hear of a reconnection, so clear the warning.
      connection.opened();
    };
  });
  return () => {
    clearTimeout(timer);
    stopWaiting();
    leave();
  };
}
