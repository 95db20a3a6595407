import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import type { FileVersion } from './file-response.ts';

/** What a path of a website leads to. */
export type Lookup =
  | { kind: 'missing' }
  | { kind: 'forbidden' }
  /** A program, which is not run here. */
  | { kind: 'program' }
  /** A folder that was asked for without `/` at the end. */
  | { kind: 'folder' }
  | FileLookup;

export interface FileLookup {
  kind: 'file';
  /** Where it really lies below the document root. */
  relative: string;
  version: FileVersion;
  /** Kept in which cache; null: too large for one, streamed from disk each time. */
  cache: 'page' | 'cdn' | null;
}

/** The bytes of a file with their description; made together, so that length and ETag are always those of the bytes. */
export interface CachedFile {
  version: FileVersion;
  bytes: Buffer;
}

/**
 * The caches of all websites. Keys begin with the website's prefix for that kind, so emptying one cache of one website is a matter of
 * the prefix; what is left under the old one is never found, and gives way to what is used.
 */
export interface Caches {
  object: LRUCache<string, Lookup>;
  page: LRUCache<string, CachedFile>;
  cdn: LRUCache<string, CachedFile>;
}

/** How much a cache holds over all websites, in bytes. */
export interface CacheLimits {
  object: number;
  page: number;
  cdn: number;
  /** A larger file is never held. */
  file: number;
}

const MIB = 1024 * 1024;
export const DEFAULT_CACHE_LIMITS: CacheLimits = {
  object: 16 * MIB,
  page: 64 * MIB,
  cdn: 128 * MIB,
  file: 2 * MIB,
};

/** A changed file shows after this time even if nobody purges. */
export const CACHE_TTL_MS = 10 * MINUTE_MS;
/** Shorter, as people look for a file before they upload it. */
export const MISSING_TTL_MS = MINUTE_MS;

/** About what an entry costs beside its key and bytes. */
const ENTRY_BYTES = 512;

export function createCaches(clock: Clock, limits: CacheLimits): Caches {
  const common = { ttl: CACHE_TTL_MS, ttlResolution: 0, perf: { now: () => clock.now().getTime() } };
  const files = (maxSize: number) =>
    new LRUCache<string, CachedFile>({
      ...common,
      maxSize,
      sizeCalculation: (file, key) => file.bytes.length + key.length + ENTRY_BYTES,
    });
  return {
    object: new LRUCache<string, Lookup>({
      ...common,
      maxSize: limits.object,
      sizeCalculation: (lookup, key) =>
        key.length + (lookup.kind === 'file' ? lookup.relative.length : 0) + ENTRY_BYTES,
    }),
    page: files(limits.page),
    cdn: files(limits.cdn),
  };
}
