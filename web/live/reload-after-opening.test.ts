import { QueryClient, type QueryKey, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SESSION_KEY } from '../api/query-keys.ts';
import { reloadAfterOpening, SESSION_FRESH_MS } from './reload-after-opening.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Shows the session and the sites, and returns how often each was loaded. */
async function shown() {
  const queries = new QueryClient();
  const loads = { session: 0, sites: 0 };
  const show = (queryKey: QueryKey, what: keyof typeof loads) =>
    new QueryObserver(queries, {
      queryKey,
      queryFn: () => {
        loads[what] += 1;
        return loads[what];
      },
    }).subscribe(() => {});
  show(SESSION_KEY, 'session');
  show(['site', 'a1'], 'sites');
  await vi.advanceTimersByTimeAsync(0);
  expect(loads).toEqual({ session: 1, sites: 1 });
  return { queries, loads };
}

it('reloads a new session once it is no longer fresh, and everything else at once', async () => {
  const { queries, loads } = await shown();
  reloadAfterOpening(queries);
  await vi.advanceTimersByTimeAsync(0);
  expect(loads).toEqual({ session: 1, sites: 2 });
  await vi.advanceTimersByTimeAsync(SESSION_FRESH_MS);
  expect(loads).toEqual({ session: 2, sites: 2 });
});

it('reloads an older session at once, and only once', async () => {
  const { queries, loads } = await shown();
  await vi.advanceTimersByTimeAsync(SESSION_FRESH_MS);
  reloadAfterOpening(queries);
  await vi.advanceTimersByTimeAsync(SESSION_FRESH_MS);
  expect(loads).toEqual({ session: 2, sites: 2 });
});

it('does not reload the session after the page has stopped following', async () => {
  const { queries, loads } = await shown();
  reloadAfterOpening(queries)();
  await vi.advanceTimersByTimeAsync(SESSION_FRESH_MS);
  expect(loads).toEqual({ session: 1, sites: 2 });
});
