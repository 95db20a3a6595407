import type { OutgoingHttpHeaders } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HttpRequest, HttpResponse } from '../../../network/connections/http-messages.ts';
import { type Notice, noticePage } from '../../policy/pages.ts';
import { compressing, type StreamCoding } from './compressed-stream.ts';
import type { RequestTarget } from './request-target.ts';

/** One request for a website, and the response to it. */
export interface Exchange {
  request: HttpRequest;
  response: HttpResponse;
  method: 'GET' | 'HEAD';
  target: RequestTarget;
}

type Responding = Pick<Exchange, 'response'>;

/** The edge's own pages need no scripts and no external resources. */
const NOTICE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
  'X-Content-Type-Options': 'nosniff',
};

/** Answers with one of the edge's own pages. */
export function sendNotice(
  { response }: Responding,
  notice: Notice,
  headers: OutgoingHttpHeaders = {},
): void {
  const page = noticePage(notice);
  response.writeHead(notice.status, { ...NOTICE_HEADERS, 'Content-Length': page.length, ...headers });
  response.end(page);
}

/** Redirects, permanently by default. */
export function sendRedirect({ response }: Responding, location: string, status = 301): void {
  response.writeHead(status, { Location: location, 'Content-Length': 0, 'Cache-Control': 'no-cache' });
  response.end();
}

/**
 * Sends `length` bytes of a stream after a head that announces that length. If the stream ends early, the connection
 * is cut, so the visitor does not take a part for the whole. Rejects if the stream fails or the visitor disconnects. The
 * stream is always destroyed. `length` is null if none is known. With a coding, the bytes are compressed on their way.
 */
export async function sendStream(
  { response }: Responding,
  status: number,
  headers: OutgoingHttpHeaders,
  body: Readable,
  length: number | null,
  coding: StreamCoding | null = null,
): Promise<void> {
  try {
    response.writeHead(status, headers);
    const checks = length === null ? [] : [exactly(length)];
    const packers = coding === null ? [] : compressing(coding);
    await pipeline([body, ...checks, ...packers, response]);
  } finally {
    body.destroy();
    if (!response.writableEnded) response.destroy();
  }
}

/** Passes bytes on and fails if their number differs from `length`. A surplus byte would be read as the next response. */
function exactly(length: number): Transform {
  let passed = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      passed += chunk.length;
      if (passed > length) done(new Error(`more than the ${length} bytes that were announced`));
      else done(null, chunk);
    },
    flush(done) {
      done(passed === length ? null : new Error(`ended after ${passed} of ${length} bytes`));
    },
  });
}
