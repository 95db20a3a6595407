import Type from 'typebox';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { CACHE_KINDS, type CacheKind } from '../../contract/host.ts';

export const GenerationsSchema = Type.Object({
  object: Type.Integer(),
  page: Type.Integer(),
  cdn: Type.Integer(),
  /** Of single pages, by decoded path without `/` at the ends. */
  paths: Type.Optional(Type.Record(Type.String(), Type.Integer())),
});

/** Current generation of each cache and of single pages. A purge sets a new one, so older entries are never found again. */
export type Generations = Type.Static<typeof GenerationsSchema>;

/** A changed file is served after this time, even without a purge. */
export const CACHE_TTL_MS = 10 * MINUTE_MS;

/**
 * The generations after some caches were emptied at the time `now` (milliseconds). They follow the clock, so a website
 * that is removed and recreated under its id never gets older cached content.
 */
export function nextGenerations(
  present: Generations | null,
  now: number,
  emptied: readonly CacheKind[] = CACHE_KINDS,
): Generations {
  const next = (kind: CacheKind): number => {
    const before = present?.[kind];
    if (before === undefined) return now;
    return emptied.includes(kind) ? Math.max(before + 1, now) : before;
  };
  const paths = emptied.includes('page') ? undefined : present?.paths;
  return {
    object: next('object'),
    page: next('page'),
    cdn: next('cdn'),
    ...(paths === undefined ? {} : { paths }),
  };
}

/** The most characters of purged paths in a vhost file; with more, the whole page cache is emptied. */
const MOST_PURGED_CHARACTERS = 64 * 1024;

/**
 * The generations after single pages were purged at the time `now` (milliseconds). `paths`: decoded, without `/` at the ends. Forgets
 * earlier purges whose pages have expired since.
 */
export function generationsAfterPurge(present: Generations, now: number, paths: string[]): Generations {
  const recent = Object.entries(present.paths ?? {}).filter(([, at]) => at >= now - CACHE_TTL_MS);
  const purged = new Map(recent);
  for (const path of paths) purged.set(path, Math.max((purged.get(path) ?? 0) + 1, now));
  const size = [...purged.keys()].reduce((sum, path) => sum + path.length, 0);
  if (size > MOST_PURGED_CHARACTERS) return nextGenerations(present, now, ['page']);
  return { ...present, paths: Object.fromEntries(purged) };
}
