import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

export type AccessEntry = BodyOf<
  HostingPaths['/installs/{install_id}/logs/access']['get']
>['results'][number];
export type PhpEntry = BodyOf<HostingPaths['/installs/{install_id}/logs/php']['get']>['results'][number];
export type CronEntry = BodyOf<HostingPaths['/installs/{install_id}/logs/cron']['get']>['results'][number];
export type MailEntry = BodyOf<HostingPaths['/installs/{install_id}/logs/mail']['get']>['results'][number];

/** Entries by kind of log. */
export interface LogEntries {
  access: AccessEntry;
  php: PhpEntry;
  cron: CronEntry;
  mail: MailEntry;
}
export type LogKind = keyof LogEntries;

export interface LogQuery {
  from?: string;
  to?: string;
  search?: string;
  status?: string;
}

interface LogPage<Kind extends LogKind> {
  results: LogEntries[Kind][];
  next_cursor: string | null;
  follow_cursor: string;
}

const ENTRIES_A_PAGE = 100;

type Loader<Kind extends LogKind> = (
  installId: string,
  query: LogQuery & { cursor?: string; limit: number },
) => Promise<LogPage<Kind>>;

const LOADERS: { [Kind in LogKind]: Loader<Kind> } = {
  access: (install_id, query) =>
    unwrap(hosting.GET('/installs/{install_id}/logs/access', { params: { path: { install_id }, query } })),
  php: (install_id, query) =>
    unwrap(hosting.GET('/installs/{install_id}/logs/php', { params: { path: { install_id }, query } })),
  cron: (install_id, query) =>
    unwrap(hosting.GET('/installs/{install_id}/logs/cron', { params: { path: { install_id }, query } })),
  mail: (install_id, query) =>
    unwrap(hosting.GET('/installs/{install_id}/logs/mail', { params: { path: { install_id }, query } })),
};

/** Loads the entries of a log, newest first, a page at a time. */
export function useLog<Kind extends LogKind>(installId: string, kind: Kind, query: LogQuery) {
  const load = LOADERS[kind];
  return useInfiniteQuery({
    queryKey: ['log', installId, kind, query],
    // A log is read again when the user asks for it. Following shows what is new.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam: cursor }) =>
      load(installId, { ...query, limit: ENTRIES_A_PAGE, ...(cursor === null ? {} : { cursor }) }),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

/** Older entries leave the page, so that it stays fast. */
const MOST_LIVE = 1_000;

/** `waiting`: the host does not answer at the moment. `ended`: the stream was refused. */
export type StreamState = 'open' | 'waiting' | 'ended';

interface Live<Kind extends LogKind> {
  /** The log and query that the entries belong to. */
  key: string;
  entries: LogEntries[Kind][];
  cursor: string | null;
  state: StreamState;
}

/**
 * Follows a log from a cursor while `isActive`, and returns what came since, newest first. After a pause, it goes on where it stopped.
 */
export function useLiveEntries<Kind extends LogKind>(
  installId: string,
  kind: Kind,
  query: LogQuery,
  { from, isActive }: { from: string | undefined; isActive: boolean },
): { entries: readonly LogEntries[Kind][]; state: StreamState } {
  const key = JSON.stringify([installId, kind, query, from]);
  const fresh: Live<Kind> = { key, entries: [], cursor: null, state: 'open' };
  const [kept, setLive] = useState(fresh);
  const live = kept.key === key ? kept : fresh;
  const start = live.cursor ?? from;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `start` changes with each entry, and the stream goes on by itself
  useEffect(() => {
    if (!isActive || start === undefined) return;
    const address = new URL(`v1/installs/${installId}/logs/${kind}`, document.baseURI);
    for (const [name, value] of Object.entries({ ...query, cursor: start })) {
      if (typeof value === 'string') address.searchParams.set(name, value);
    }
    const stream = new EventSource(address);
    const change = (changes: (before: Live<Kind>) => Partial<Live<Kind>>) =>
      setLive((before) => {
        const present = before.key === key ? before : fresh;
        return { ...present, ...changes(present) };
      });
    stream.addEventListener('entry', ({ data, lastEventId }: MessageEvent<string>) => {
      const entry: LogEntries[Kind] = JSON.parse(data);
      change(({ entries, cursor }) => ({
        entries: [entry, ...entries].slice(0, MOST_LIVE),
        cursor: lastEventId || cursor,
        state: 'open',
      }));
    });
    stream.addEventListener('open', () => change(() => ({ state: 'open' })));
    stream.addEventListener('unavailable', () => change(() => ({ state: 'waiting' })));
    stream.addEventListener('error', () =>
      change(() => ({ state: stream.readyState === EventSource.CLOSED ? 'ended' : 'waiting' })),
    );
    return () => stream.close();
  }, [key, isActive]);
  return live;
}
