import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { CACHE_TTL_MS } from '../host-folder/generations.ts';
import type { FileVersion } from './file-response.ts';

/** The result of looking up a path of a website. */
export type Lookup =
  | { kind: 'missing' }
  | { kind: 'forbidden' }
  /** A program. This host does not run programs. */
  | { kind: 'program' }
  /** A folder requested without a trailing `/`. */
  | { kind: 'folder' }
  | FileLookup;

export interface FileLookup {
  kind: 'file';
  /** Real path below the document root. */
  relative: string;
  version: FileVersion;
  /** The cache that keeps the file; null if it is too large and streamed from disk each time. */
  cache: 'page' | 'cdn' | null;
}

/** A file's bytes with their description. Both are created together, so length and ETag always match the bytes. */
export interface CachedFile {
  version: FileVersion;
  bytes: Buffer;
}

/**
 * The caches of all websites. Keys begin with the website's prefix for that kind of cache, so changing the prefix empties one cache of
 * one website. Entries under the old prefix are never found and are evicted in time.
 */
export interface Caches {
  object: LRUCache<string, Lookup>;
  page: LRUCache<string, CachedFile>;
  cdn: LRUCache<string, CachedFile>;
}

/** Capacity of a cache over all websites, in bytes. */
export interface CacheLimits {
  object: number;
  page: number;
  cdn: number;
  /** Larger files are never cached. */
  file: number;
}

const MIB = 1024 * 1024;
export const DEFAULT_CACHE_LIMITS: CacheLimits = {
  object: 16 * MIB,
  page: 64 * MIB,
  cdn: 128 * MIB,
  file: 2 * MIB,
};

/** Shorter, because people request a file before they upload it. */
export const MISSING_TTL_MS = MINUTE_MS;

/** Approximate overhead of an entry besides its key and bytes. */
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
