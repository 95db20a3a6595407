import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { isCompressedAnswer } from '../../policy/compression.ts';
import { type Keeping, keepingOf } from '../../policy/page-keeping.ts';
import type { PhpResponse } from '../../runtime/wasm/php-sites.ts';
import { variedByCoding } from './compressed-stream.ts';
import { headersForVisitor } from './php-headers.ts';

/** A page of PHP that any visitor may see. */
export interface Page {
  status: number;
  headers: OutgoingHttpHeaders;
  body: Buffer;
  keeping: Keeping;
  madeAtMs: number;
  /** Whether visitors who accept that get it compressed. */
  compressed: boolean;
  /** Differs from that of any other page. */
  version: string;
}

/** An answer of PHP: a page to keep, or the body to pass on, from its first byte. */
export type ReadAnswer = { page: Page } | { body: Readable };

/** Pages in memory, and the ones that are being made. */
export interface PageCache {
  /** A page that visitors may see. `isStale`: it should be made again meanwhile. */
  find(key: string): { page: Page; isStale: boolean } | null;
  /** The page that is being made under that key. It resolves to null if the page was not kept. */
  beingMade(key: string): Promise<Page | null> | undefined;
  /** Keeps the page that `work` makes, and lets others wait for it. */
  follow(key: string, work: Promise<ReadAnswer>): void;
}

/** Larger pages are never cached. */
const PAGE_BYTES = 2 * 1024 * 1024;
/** Approximate overhead of an entry besides its key and body. */
const ENTRY_BYTES = 1_024;

/** `bytes`: of all pages of all websites. */
export function createPageCache(bytes: number, clock: Clock): PageCache {
  const pages = new LRUCache<string, Page>({
    maxSize: bytes,
    sizeCalculation: ({ headers, body }, key) =>
      body.length + JSON.stringify(headers).length + key.length + ENTRY_BYTES,
  });
  const making = new Map<string, Promise<Page | null>>();
  return {
    find(key) {
      const page = pages.get(key);
      if (page === undefined) return null;
      const age = (clock.now().getTime() - page.madeAtMs) / 1_000;
      const { fresh, stale } = page.keeping;
      return age < fresh + stale ? { page, isStale: age >= fresh } : null;
    },
    beingMade: (key) => making.get(key),
    follow(key, work) {
      const settled = work.then(
        (answer) => {
          if (!('page' in answer)) return null;
          pages.set(key, answer.page);
          return answer.page;
        },
        () => null,
      );
      making.set(key, settled);
      void settled.finally(() => {
        if (making.get(key) === settled) making.delete(key);
      });
    },
  };
}

/** Reads an answer of PHP as far as it can be kept. `seconds`: how long pages of the website are kept if PHP does not say. */
export async function readAnswer(
  { status, headers, body }: PhpResponse,
  seconds: number,
  clock: Clock,
): Promise<ReadAnswer> {
  const one = (name: string) => joined(headers[name]);
  const expires = one('expires');
  const described = {
    status,
    contentType: one('content-type'),
    contentLength: one('content-length'),
    contentEncoding: one('content-encoding'),
    cacheControl: one('cache-control'),
  };
  const now = clock.now().getTime();
  const keeping = keepingOf(
    {
      ...described,
      expiresAt: expires === undefined ? undefined : timeOf(expires),
      xAccelExpires: one('x-accel-expires'),
      xAccelBuffering: one('x-accel-buffering'),
      vary: one('vary'),
      setsCookie: headers['set-cookie'] !== undefined,
    },
    now,
    seconds,
  );
  if (keeping === null) return { body };
  const chunks: Buffer[] = [];
  let bytes = 0;
  const iterator: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    chunks.push(next.value);
    bytes += next.value.length;
    if (bytes > PAGE_BYTES) return { body: continued(chunks, iterator) };
  }
  const whole = Buffer.concat(chunks);
  const compressed = isCompressedAnswer({ ...described, contentLength: String(whole.length) });
  const shown = { ...headersForVisitor(headers), 'content-length': whole.length };
  return {
    page: {
      status,
      headers: compressed ? variedByCoding(shown) : shown,
      body: whole,
      keeping,
      madeAtMs: now,
      compressed,
      version: randomUUID(),
    },
  };
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

function timeOf(date: string): number | null {
  const time = Date.parse(date);
  return Number.isNaN(time) ? null : time;
}

function continued(chunks: Buffer[], rest: AsyncIterator<Buffer>): Readable {
  return PassThrough.from(
    (async function* () {
      try {
        yield* chunks;
        for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
      } finally {
        await rest.return?.();
      }
    })(),
  );
}
