import type { PassThrough, Readable } from 'node:stream';
import { untilAborted } from '../../../lib/concurrency.ts';
import { PhpFailure, type PhpRequest, type PhpResponse } from '../../runtime/wasm/php-sites.ts';
import type { Vhost } from '../host-folder/vhost.ts';
import { createRequestCounts } from './request-counts.ts';

export type RequestPhp = (vhost: Vhost, request: PhpRequest, signal: AbortSignal) => Promise<PhpResponse>;

/** A body on its way from a visitor to PHP. */
export interface Upload {
  visitor: Readable;
  body: PassThrough;
}

/** Of a website, whose PHP has not begun to answer. Those for the cache wait without their visitor. */
const MOST_WAITING = 100;

/**
 * Lets so many requests of each website wait for PHP. Others, and those that are aborted, are rejected at once. A request with an
 * `upload` counts only while it waits for PHP, because slow visitors must not take the places.
 */
export function createWaitingRequests(
  request: RequestPhp,
): (...parameters: [...Parameters<RequestPhp>, upload?: Upload | null]) => Promise<PhpResponse> {
  const counts = createRequestCounts(MOST_WAITING);

  return async (vhost, given, signal, upload = null) => {
    const refused = new AbortController();
    let isCounted = false;
    const wait = (): void => {
      if (isCounted || refused.signal.aborted) return;
      isCounted = counts.begin(vhost.id);
      if (!isCounted) refused.abort(new PhpFailure('busy', 'too many requests of the website are waiting'));
    };
    const leave = (): void => {
      if (isCounted) counts.end(vhost.id);
      isCounted = false;
    };
    const forget = upload === null ? wait() : follow(upload, wait, leave);
    const ended = AbortSignal.any([signal, refused.signal]);
    try {
      ended.throwIfAborted();
      return await orDiscard(request(vhost, given, ended), ended);
    } finally {
      forget?.();
      leave();
    }
  };
}

/**
 * Calls `wait` when the visitor has sent all, or as much as fits before PHP has a process, and `leave` when PHP begins to read what is
 * not complete. Returns a function that ends this.
 */
function follow({ visitor, body }: Upload, wait: () => void, leave: () => void): () => void {
  const fill = (): void => {
    if (body.readableFlowing === null && body.readableLength >= body.readableHighWaterMark) wait();
  };
  const read = (): void => {
    if (!visitor.readableEnded) leave();
  };
  visitor.on('data', fill).once('end', wait);
  body.once('resume', read);
  return () => {
    visitor.off('data', fill).off('end', wait);
    body.off('resume', read);
  };
}

/** Rejects when the signal aborts. An answer that comes all the same is discarded. */
async function orDiscard(answer: Promise<PhpResponse>, signal: AbortSignal): Promise<PhpResponse> {
  try {
    return await untilAborted(answer, signal);
  } catch (error) {
    if (signal.aborted) {
      answer.then(
        ({ body }) => body.destroy(),
        () => undefined,
      );
    }
    throw error;
  }
}
