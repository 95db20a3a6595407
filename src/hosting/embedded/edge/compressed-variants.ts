import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { limitConcurrency } from '../../../lib/concurrency.ts';
import type { Coding } from './content-coding.ts';

/** Content of a website that visitors get, too. */
export interface Content {
  /** The website's id. */
  website: string;
  /** Names the content in that website. */
  key: string;
  /** Differs for other bytes under the same key. */
  version: string;
  bytes: Buffer;
}

/** Compressed content in memory. Each variant is made once, and kept until its content changes or others need the space. */
export interface CompressedVariants {
  /**
   * The content in that coding. Null if it would not be smaller, or too much waits to be compressed: visitors get it as it is then. Not a
   * promise if the variant is kept.
   */
  of(content: Content, coding: Coding): Buffer | null | Promise<Buffer | null>;
}

export interface CompressedVariantsOptions {
  /** Bytes of all variants, and of those of one website. */
  most?: number;
  mostOfWebsite?: number;
  /** Bytes of content of all websites, and of one, that may wait. */
  mostWaiting?: number;
  mostWaitingOfWebsite?: number;
  compress?: (bytes: Buffer, coding: Coding) => Promise<Buffer>;
  log: Logger;
}

const MIB = 1024 * 1024;
/** Approximate overhead of an entry besides its key and bytes. */
const ENTRY_BYTES = 256;
/** Node has four threads, which also read files. */
const AT_ONCE = 2;

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
const compressZstd = promisify(zstdCompress);
// Higher ones take several times as long for one hundredth of the size.
const BROTLI_QUALITY = 6;
const GZIP_LEVEL = 6;
const ZSTD_LEVEL = 9;

interface Variant {
  version: string;
  /** Null if compression would not make the content smaller. */
  bytes: Buffer | null;
}

export function createCompressedVariants(options: CompressedVariantsOptions): CompressedVariants {
  const { most = 64 * MIB, mostOfWebsite = 16 * MIB, compress = compressWhole, log } = options;
  const { mostWaiting = 32 * MIB, mostWaitingOfWebsite = 8 * MIB } = options;
  /** By website, the one that was not visited for longest first. */
  const kept = new Map<string, LRUCache<string, Variant>>();
  const making = new Map<string, Promise<Buffer | null>>();
  /** Bytes of content that waits, by website. */
  const waiting = new Map<string, number>();
  const inTurn = limitConcurrency(AT_ONCE);
  let size = 0;
  let waitingBytes = 0;

  function variantsOf(website: string): LRUCache<string, Variant> {
    const variants =
      kept.get(website) ??
      new LRUCache<string, Variant>({
        maxSize: mostOfWebsite,
        sizeCalculation: ({ bytes }, key) => (bytes?.length ?? 0) + key.length + ENTRY_BYTES,
      });
    kept.delete(website);
    kept.set(website, variants);
    return variants;
  }

  function keep(website: string, key: string, variant: Variant): void {
    const variants = variantsOf(website);
    size -= variants.calculatedSize;
    variants.set(key, variant);
    size += variants.calculatedSize;
    for (const [longest, others] of kept) {
      while (size > most && others.size > 0) {
        size -= others.calculatedSize;
        others.pop();
        size += others.calculatedSize;
      }
      if (size <= most) return;
      kept.delete(longest);
    }
  }

  function count(website: string, bytes: number): void {
    waitingBytes += bytes;
    const ofWebsite = (waiting.get(website) ?? 0) + bytes;
    if (ofWebsite === 0) waiting.delete(website);
    else waiting.set(website, ofWebsite);
  }

  async function make(
    { website, version, bytes }: Content,
    key: string,
    coding: Coding,
  ): Promise<Buffer | null> {
    count(website, bytes.length);
    try {
      const compressed = await inTurn(() => compress(bytes, coding));
      const smaller = compressed.length < bytes.length ? compressed : null;
      keep(website, key, { version, bytes: smaller });
      return smaller;
    } catch (err) {
      log.warn({ err, install: website, coding }, 'content could not be compressed, and is sent as it is');
      return null;
    } finally {
      count(website, -bytes.length);
    }
  }

  return {
    of(content, coding) {
      const { website, version, bytes } = content;
      const key = `${coding} ${content.key}`;
      const variants = kept.get(website);
      const variant = variants?.get(key);
      if (variants !== undefined && variant?.version === version) {
        kept.delete(website);
        kept.set(website, variants);
        return variant.bytes;
      }
      const name = `${website} ${version} ${key}`;
      const underWay = making.get(name);
      if (underWay !== undefined) return underWay;
      if (waitingBytes + bytes.length > mostWaiting) return null;
      if ((waiting.get(website) ?? 0) + bytes.length > mostWaitingOfWebsite) return null;
      const made = make(content, key, coding).finally(() => making.delete(name));
      making.set(name, made);
      return made;
    },
  };
}

/** Compresses on one of Node's threads. */
function compressWhole(bytes: Buffer, coding: Coding): Promise<Buffer> {
  if (coding === 'gzip') return compressGzip(bytes, { level: GZIP_LEVEL });
  if (coding === 'zstd') {
    return compressZstd(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });
  }
  return compressBrotli(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}
