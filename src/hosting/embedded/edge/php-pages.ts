import { PassThrough, type Readable, Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { entryLimit } from '../../../lib/entry-limit.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { IDLE_MS } from '../../../network/connections/listener.ts';
import { locationWithCampaign, splitCampaign } from '../../policy/campaign-parameters.ts';
import { isFromElsewhere } from '../../policy/compression.ts';
import {
  NOT_CACHED_STATUS,
  PAGE_ACCEPT,
  PAGE_USER_AGENT,
  wantsOnlyCached,
} from '../../policy/page-request-headers.ts';
import { NOTICES, type Notice } from '../../policy/pages.ts';
import type { Scheme } from '../../policy/redirects.ts';
import { PhpFailure, type PhpFailureReason, type PhpResponse } from '../../runtime/wasm/php-sites.ts';
import type { Vhost } from '../host-folder/vhost.ts';
import { createRareLog } from '../rare-log.ts';
import { noteCache, timed } from './answer-record.ts';
import { codedHead, codedStream, compressing } from './compressed-stream.ts';
import type { CompressedVariants } from './compressed-variants.ts';
import { acceptedCodings } from './content-coding.ts';
import { type Exchange, sendNotice } from './exchange.ts';
import { bypassesPageCache } from './page-bypass.ts';
import { createPageCache, type Page, readAnswer } from './page-cache.ts';
import { hasBody, headersForPhp, headersForVisitor } from './php-headers.ts';
import { createRequestCounts } from './request-counts.ts';
import type { SitePath } from './request-target.ts';
import type { HostHeader } from './routing.ts';
import { createWaitingRequests, type RequestPhp } from './waiting-requests.ts';

/** One request for a website with PHP. */
export interface PhpExchange extends Omit<Exchange, 'method'> {
  method: string;
  scheme: Scheme;
  host: HostHeader;
  clientAddress: string;
  /** As in PhpRequest. */
  isOwn: boolean;
}

/** Answers requests by PHP, or by the page cache. */
export interface PhpPages {
  answer(exchange: PhpExchange, vhost: Vhost, path: SitePath): Promise<void>;
  /** Answers by PHP, whatever the cache has. */
  pass(exchange: PhpExchange, vhost: Vhost): Promise<void>;
}

export interface PhpPagesOptions {
  request: RequestPhp;
  /** Called before the last byte for a visitor who bypasses the cache. Purges what the request changed. */
  settle(vhost: Vhost): Promise<void>;
  /** Bytes of all cached pages. */
  cacheBytes: number;
  variants: CompressedVariants;
  /** Timeout of a connection on which PHP sends and its visitor reads nothing. */
  idleMs?: number;
  log: Logger;
  clock: Clock;
}

const FAILURES: Record<PhpFailureReason, Notice> = {
  busy: NOTICES.busy,
  failed: NOTICES.noAnswer,
  memory: NOTICES.failed,
  timeout: NOTICES.slow,
  too_large: NOTICES.tooLarge,
  closed: NOTICES.closed,
};
/** If PHP names no time. */
const RETRY_SECONDS = 5;
/** Longer than PHP lets a request wait and work. Its answer comes before, even if that is a failure. */
const SILENT_MS = 6 * MINUTE_MS;
/** Of a website. */
const MOST_LEFT = 16;
/** Of an answer whose visitor has left. PHP that writes more is no task in the background. */
const LEFT_BYTES = 16 * 1024 * 1024;

/** Keys of pages that PHP failed to make. */
const MOST_FAILING = 10_000;

export function createPhpPages(options: PhpPagesOptions): PhpPages {
  const { request, settle, cacheBytes, variants, idleMs = IDLE_MS, log, clock } = options;
  const pages = createPageCache(cacheBytes, clock);
  const ask = createWaitingRequests(request);
  /** Requests that continue after their visitor has left, for example those that start WordPress's scheduled tasks. */
  const left = createRequestCounts(MOST_LEFT);
  const rarely = createRareLog(clock);
  const failing = new LRUCache<string, true>(entryLimit(MOST_FAILING));

  async function answer(exchange: PhpExchange, vhost: Vhost, path: SitePath): Promise<void> {
    const { target, scheme, host, method } = exchange;
    const uri = target.path + target.query;
    const { headers } = exchange.request;
    const onlyCached = wantsOnlyCached(headers['cache-control']);
    if (bypassesPageCache({ method, headers }, vhost, path, uri)) {
      return onlyCached ? refuseUncached(exchange) : pass(exchange, vhost);
    }
    const { uri: kept, campaign } = splitCampaign(uri, vhost.pages.ignoredParameters);
    const generation = vhost.purgedPages.get(path.relative) ?? '';
    const key = `${vhost.cachePrefix.page}${generation} ${scheme}://${nameOf(host)}${kept}`;
    const found = pages.find(key);
    if (found !== null) {
      if (found.isStale && !onlyCached) makeAgain(exchange, vhost, key, kept);
      return send(exchange, vhost, key, found.page, 'HIT', campaign);
    }
    if (onlyCached && !failing.has(key)) return refuseUncached(exchange);
    exchange.response.setTimeout(SILENT_MS);
    const waited = await pages.beingMade(key);
    if (waited) {
      exchange.response.setTimeout(idleMs);
      return send(exchange, vhost, key, waited, 'HIT', campaign);
    }
    const made = timed(
      exchange.response,
      () => makePage(exchange, vhost, kept),
      ({ read }) => ('body' in read ? read.body : null),
    );
    note(key, made);
    pages.follow(
      key,
      made.then(({ read }) => read),
    );
    try {
      const { response, read, leave } = await made;
      exchange.response.setTimeout(idleMs);
      if ('page' in read) await send(exchange, vhost, key, read.page, 'MISS', campaign);
      else {
        exchange.response.once('close', () => {
          if (!exchange.response.writableFinished) leave();
        });
        await stream(exchange, response, read.body, 'MISS');
      }
    } catch (error) {
      refuse(exchange, vhost, error);
    }
  }

  /** Makes a page again while visitors get the former one. */
  function makeAgain(exchange: PhpExchange, vhost: Vhost, key: string, uri: string): void {
    if (pages.beingMade(key) !== undefined) return;
    const answered = makePage(exchange, vhost, uri);
    note(key, answered);
    const made = answered.then(({ read, leave }) => {
      if ('body' in read) {
        leave();
        void readToEnd(read.body);
      }
      return read;
    });
    pages.follow(key, made);
    made.catch((err: unknown) =>
      rarely(`${vhost.id} again`, (leftOut) =>
        log.warn({ err, install: vhost.id, leftOut }, 'a page could not be made again'),
      ),
    );
  }

  /** Remembers pages that PHP failed to make, until it makes them. */
  function note(key: string, made: Promise<{ status: number }>): void {
    made.then(
      ({ status }) => (status >= 500 ? failing.set(key, true) : failing.delete(key)),
      () => failing.set(key, true),
    );
  }

  /** Headers of the visitor do not reach PHP, so none can shape what others see. `leave`: the visitor has left before the end of an answer. */
  async function makePage({ scheme, host, clientAddress, isOwn }: PhpExchange, vhost: Vhost, target: string) {
    const gone = new AbortController();
    const response = await ask(
      vhost,
      {
        method: 'GET',
        target,
        headers: { accept: PAGE_ACCEPT, 'user-agent': PAGE_USER_AGENT },
        body: null,
        https: scheme === 'https',
        clientAddress,
        isOwn,
        host: nameOf(host),
        left: gone.signal,
      },
      // The page is for all who wait for it, not only for the first.
      new AbortController().signal,
    );
    try {
      const read = await readAnswer(response, vhost.pages.seconds, clock);
      return { response, read, status: response.status, leave: () => gone.abort() };
    } catch (error) {
      throw new PhpFailure('failed', `PHP ended before its page did: ${messageOf(error)}`);
    }
  }

  async function send(
    { request: visitor, response, method, host }: PhpExchange,
    vhost: Vhost,
    key: string,
    { status, headers, body, compressed, version }: Page,
    cache: 'HIT' | 'MISS',
    campaign: string,
  ): Promise<void> {
    const location = headers.location;
    const accepted = compressed ? acceptedCodings(visitor.headers['accept-encoding']) : [];
    const [coding = null] = accepted;
    const content = { website: vhost.id, key, version, bytes: body };
    const coded = coding === null ? null : await variants.of(content, coding);
    noteCache(response, cache);
    response.writeHead(status, {
      ...(coding === null || coded === null
        ? headers
        : { ...codedHead(headers, coding), 'content-length': coded.length }),
      ...(typeof location === 'string'
        ? { location: locationWithCampaign(location, nameOf(host), campaign) }
        : {}),
      // Caches on the way must not show a protected page to others.
      ...(vhost.protect === null ? {} : { 'cache-control': 'private' }),
      'X-Cache': cache,
    });
    response.end(method === 'HEAD' ? undefined : (coded ?? body));
  }

  async function pass(exchange: PhpExchange, vhost: Vhost): Promise<void> {
    const { request: visitor, response, method, target, scheme, host, clientAddress, isOwn } = exchange;
    const ended = new AbortController();
    const gone = new AbortController();
    let isLeft = false;
    const leave = (): void => {
      if (response.writableFinished) return;
      // Half an upload means nothing to PHP.
      isLeft = visitor.complete && left.begin(vhost.id);
      if (isLeft) gone.abort();
      else ended.abort();
    };
    response.once('close', leave);
    // A silent upload ends earlier.
    if (visitor.complete || !hasBody(visitor.headers)) response.setTimeout(SILENT_MS);
    else visitor.once('end', () => response.setTimeout(SILENT_MS));
    const body = hasBody(visitor.headers) ? visitor.pipe(new PassThrough()) : null;
    try {
      const answered = await timed(
        response,
        () =>
          ask(
            vhost,
            {
              method: method === 'HEAD' ? 'GET' : method,
              target: target.path + target.query,
              headers: headersForPhp(visitor.headers, vhost, method),
              body,
              https: scheme === 'https',
              clientAddress,
              isOwn,
              host: nameOf(host),
              left: gone.signal,
            },
            ended.signal,
            body && !visitor.readableEnded ? { visitor, body } : null,
          ),
        ({ body: answer }) => answer,
      );
      response.setTimeout(idleMs);
      await stream(exchange, answered, answered.body, 'BYPASS', () => settle(vhost));
    } catch (error) {
      // The visitor has left.
      if (response.destroyed && !response.headersSent) return;
      refuse(exchange, vhost, error);
    } finally {
      response.off('close', leave);
      if (isLeft) left.end(vhost.id);
    }
  }

  /** `atEnd` runs before the last byte is sent. If the visitor leaves, it runs when PHP has ended. */
  async function stream(
    { request: visitor, response, method }: PhpExchange,
    { status, headers }: PhpResponse,
    body: Readable,
    cache: 'BYPASS' | 'MISS',
    atEnd?: () => Promise<void>,
  ): Promise<void> {
    let ending: Promise<void> | undefined;
    const settled = (): Promise<void> => (ending ??= atEnd?.() ?? Promise.resolve());
    const finish = new Transform({
      transform: (chunk, _encoding, done) => done(null, method === 'HEAD' ? undefined : chunk),
      flush: (done) => void settled().then(() => done(), done),
    });
    noteCache(response, cache);
    const isExposed = cache === 'BYPASS' && isFromElsewhere(visitor.headers['sec-fetch-site']);
    const accepted = isExposed ? {} : visitor.headers;
    const { coding, head } = codedStream(accepted, status, headersForVisitor(headers));
    response.writeHead(status, { ...head, 'X-Cache': cache });
    // No part of the pipeline, which would end PHP with the visitor.
    body.once('error', (error) =>
      finish.destroy(new PhpFailure('failed', `PHP ended before its answer did: ${messageOf(error)}`)),
    );
    body.pipe(finish);
    try {
      await pipeline([
        finish,
        ...(coding === null || method === 'HEAD' ? [] : compressing(coding)),
        response,
      ]);
    } finally {
      if (!response.writableEnded) response.destroy();
      await readToEnd(body);
      await settled();
    }
  }

  async function readToEnd(body: Readable): Promise<void> {
    let bytes = 0;
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > LEFT_BYTES) body.destroy();
    });
    body.resume();
    await finished(body).catch(() => undefined);
  }

  function refuse({ request: visitor, response, target }: PhpExchange, vhost: Vhost, error: unknown): void {
    if (!(error instanceof PhpFailure)) throw error;
    const { reason, message } = error;
    const { path } = target;
    rarely(`${vhost.id} ${reason}`, (leftOut) =>
      log.info({ install: vhost.id, reason, cause: message, path, leftOut }, 'PHP gave no whole answer'),
    );
    // Its visitor sees that the connection was cut.
    if (response.headersSent) return;
    const mayRetry = error.reason === 'busy' || error.reason === 'closed';
    const retry = mayRetry ? { 'Retry-After': error.retryAfter || RETRY_SECONDS } : {};
    // Closed, because the rest of the request is not read.
    const close = hasBody(visitor.headers) ? { Connection: 'close' } : {};
    sendNotice({ response }, FAILURES[error.reason], { ...retry, ...close });
  }

  return { answer, pass };
}

function refuseUncached({ response }: PhpExchange): void {
  noteCache(response, 'MISS');
  response.writeHead(NOT_CACHED_STATUS, {
    'X-Cache': 'MISS',
    'Cache-Control': 'no-store',
    'Content-Length': 0,
  });
  response.end();
}

const nameOf = ({ name, port }: HostHeader): string => (port === null ? name : `${name}:${port}`);
