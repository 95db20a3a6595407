import { randomUUID } from 'node:crypto';
import { type BigIntStats, fstatSync } from 'node:fs';
import { basename } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { isCompressedType, SMALLEST_COMPRESSED } from '../../policy/compression.ts';
import { type Opened, openInside } from '../host-folder/open-inside.ts';
import type { Vhost } from '../host-folder/vhost.ts';
import { type CachedFile, type Caches, type FileLookup, type Lookup, MISSING_TTL_MS } from './caches.ts';
import { contentTypeOf, isPage, isProgram } from './content-type.ts';
import type { FileVersion } from './file-response.ts';
import { isHidden, type SitePath } from './request-target.ts';

/** Whether the result came from the cache. */
export type CacheState = 'HIT' | 'MISS';

export interface Found {
  lookup: Lookup;
  /** The file with its bytes, if it is kept in memory. */
  file: CachedFile | null;
  /** The key of the file in its cache; empty if none keeps it. */
  key: string;
  cache: CacheState;
}

/** The files of a website, or of a WordPress core that websites share, with the keys of their entries in the caches. */
export type FileTree = Pick<Vhost, 'id' | 'revision' | 'cachePrefix' | 'purgedPages'> & {
  wordpress: unknown;
};

/** Looks up paths, in the caches and then on disk. */
export interface FileFinder {
  find(tree: FileTree, path: SitePath): Promise<Found>;
  /**
   * Opens a file that is too large for the caches in its current state. Null if it no longer exists or is not a file. Drops the cached
   * look-up if the file has changed.
   */
  open(tree: FileTree, path: SitePath, lookup: FileLookup): Promise<OpenedFile | null>;
}

export interface OpenedFile {
  version: FileVersion;
  handle: Opened['handle'];
}

export interface FileFinderOptions {
  /** The folder in which the paths are looked up. */
  filesOf(tree: FileTree): string;
  caches: Caches;
  /** Larger files are not kept in memory, in bytes. */
  fileLimit: number;
  /** A look-up of a website with PHP lasts this long, because WordPress changes files at any time. Default: as other look-ups. */
  changingTtlMs?: number;
  clock: Clock;
}

const READ_TRIES = 3;
/** Larger files are downloads, whose visitors want to see their size and to go on where one broke off. */
const LARGEST_COMPRESSED = 16 * 1024 * 1024;

export function createFileFinder(options: FileFinderOptions): FileFinder {
  const { filesOf, caches, fileLimit, changingTtlMs, clock } = options;
  const loading = new Map<string, Promise<Found>>();

  /** Concurrent misses of one path read the file once. */
  function loadOnce(tree: FileTree, path: SitePath): Promise<Found> {
    // The revision is part of the key: a request after a purge must not get content read before it.
    const key = `${tree.revision}${keyOf(path)}`;
    const underWay = loading.get(key);
    if (underWay !== undefined) return underWay;
    const started = load(tree, path).finally(() => loading.delete(key));
    loading.set(key, started);
    return started;
  }

  async function load(tree: FileTree, path: SitePath): Promise<Found> {
    const found = await readFromDisk(tree, path);
    const { lookup, file, settled } = found;
    const ttl = ttlOf(tree, lookup);
    const kept = lookup.kind === 'file' ? lookup.cache : null;
    const key = lookup.kind === 'file' && kept !== null ? fileKey(tree, path, kept, lookup.relative) : '';
    if (settled) {
      caches.object.set(tree.cachePrefix.object + keyOf(path), lookup, ttl);
      if (file !== null && kept !== null) caches[kept].set(key, file);
    }
    return { lookup, file, key, cache: 'MISS' };
  }

  function ttlOf({ wordpress }: FileTree, { kind }: Lookup): { ttl: number } | undefined {
    if (wordpress !== null && changingTtlMs !== undefined) return { ttl: changingTtlMs };
    return kind === 'file' || kind === 'folder' ? undefined : { ttl: MISSING_TTL_MS };
  }

  async function readFromDisk(tree: FileTree, path: SitePath): Promise<Reading> {
    const root = filesOf(tree);
    for (let tries = 1; ; tries++) {
      const opened = await openInside(root, path.folder ? `${path.relative}/index.html` : path.relative);
      if (typeof opened === 'string') return { lookup: { kind: opened }, file: null, settled: true };
      try {
        const lookup = lookupOf(opened, path);
        if (lookup.kind !== 'file' || lookup.cache === null) return { lookup, file: null, settled: true };
        const bytes = await readWhole(opened, lookup.version.size);
        if (bytes !== null) return { lookup, file: { version: lookup.version, bytes }, settled: true };
        if (tries === READ_TRIES) {
          return { lookup, file: await readChanging(opened, lookup.version), settled: false };
        }
      } finally {
        await opened.handle.close();
      }
    }
  }

  function lookupOf({ stats, relative }: Opened, path: SitePath): Lookup {
    if (isHidden(relative)) return { kind: 'missing' };
    if (stats.isDirectory()) return { kind: path.folder ? 'missing' : 'folder' };
    if (!stats.isFile()) return { kind: 'missing' };
    if (isProgram(basename(relative))) return { kind: 'program' };
    const version = versionOf(stats, relative, clock.now());
    const cache = version.size > fileLimit ? null : isPage(version.type) ? 'page' : 'cdn';
    return { kind: 'file', relative, version, cache };
  }

  return {
    find(tree, path) {
      const lookup = caches.object.get(tree.cachePrefix.object + keyOf(path));
      if (lookup === undefined) return loadOnce(tree, path);
      if (lookup.kind !== 'file' || lookup.cache === null) {
        return Promise.resolve({ lookup, file: null, key: '', cache: 'HIT' });
      }
      const key = fileKey(tree, path, lookup.cache, lookup.relative);
      const file = caches[lookup.cache].get(key);
      return file === undefined ? loadOnce(tree, path) : Promise.resolve({ lookup, file, key, cache: 'HIT' });
    },

    async open(tree, path, lookup) {
      const opened = await openInside(filesOf(tree), lookup.relative);
      const isFile =
        typeof opened !== 'string' && opened.stats.isFile() && opened.relative === lookup.relative;
      const version = isFile ? versionOf(opened.stats, opened.relative, clock.now()) : null;
      if (version?.etag !== lookup.version.etag) {
        caches.object.delete(tree.cachePrefix.object + keyOf(path));
      }
      if (isFile && version !== null) return { version, handle: opened.handle };
      if (typeof opened !== 'string') await opened.handle.close();
      return null;
    },
  };
}

interface Reading {
  lookup: Lookup;
  file: CachedFile | null;
  /** The file did not change while it was read, so it may be cached. */
  settled: boolean;
}

function keyOf({ relative, folder }: SitePath): string {
  return folder ? `${relative}/` : relative;
}

/** The key of a file that was found at `path`. A purged page has its own, which differs from that of any file. */
function fileKey(tree: FileTree, path: SitePath, cache: 'page' | 'cdn', relative: string): string {
  const prefix = tree.cachePrefix[cache];
  const purged = cache === 'page' ? tree.purgedPages.get(path.relative) : undefined;
  return purged === undefined ? prefix + relative : `${prefix}/${purged}/${path.relative}/${relative}`;
}

function versionOf(stats: BigIntStats, relative: string, now: Date): FileVersion {
  // ctime follows every write and, unlike mtime, cannot be set back.
  const etag = `"${stats.size.toString(36)}-${stats.ctimeNs.toString(36)}"`;
  // Last-Modified must not lie in the future (RFC 9110 section 8.8.2.1).
  const modified = Math.min(Number(stats.mtimeMs), now.getTime());
  const modifiedAt = new Date(Math.floor(modified / 1000) * 1000);
  const size = Number(stats.size);
  const type = contentTypeOf(basename(relative));
  return {
    etag,
    modified: modifiedAt,
    modifiedText: modifiedAt.toUTCString(),
    size,
    type,
    compressed: size >= SMALLEST_COMPRESSED && size <= LARGEST_COMPRESSED && isCompressedType(type),
  };
}

/** The bytes of a file, or null if it changed meanwhile. */
async function readWhole({ handle, stats }: Opened, size: number): Promise<Buffer | null> {
  const bytes = Buffer.allocUnsafeSlow(size);
  let read = 0;
  while (read < size) {
    const { bytesRead } = await handle.read(bytes, read, size - read, read);
    if (bytesRead === 0) return null;
    read += bytesRead;
  }
  const after = fstatSync(handle.fd, { bigint: true });
  return after.size === stats.size && after.ctimeNs === stats.ctimeNs ? bytes : null;
}

/** A file that is still being written: its present content, with an ETag that no other response will ever have. */
async function readChanging({ handle }: Opened, version: FileVersion): Promise<CachedFile> {
  const bytes = Buffer.alloc(version.size);
  const { bytesRead } = await handle.read(bytes, 0, version.size, 0);
  return {
    version: { ...version, size: bytesRead, etag: `"${randomUUID()}"` },
    bytes: bytes.subarray(0, bytesRead),
  };
}
