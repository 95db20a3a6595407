import { type RequestListener, STATUS_CODES } from 'node:http';
import { INVALID_PARAMETERS } from '../lib/failures.ts';
import { namesOneHost } from '../lib/one-host.ts';

const STATUS = 400;
const BODY = JSON.stringify({ message: INVALID_PARAMETERS });
const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Content-Length': String(BODY.length),
  Connection: 'close',
};

/** The raw answer to bytes that are not an HTTP request. They never reach Fastify. */
export function unreadableAnswer(): string {
  const headers = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${STATUS} ${STATUS_CODES[STATUS]}`, ...headers, '', BODY].join('\r\n');
}

/** Answers requests with no host or several hosts in the same way. Passes other requests to the handler. */
export function requireHost(handler: RequestListener): RequestListener {
  return (request, response) => {
    if (namesOneHost(request)) {
      handler(request, response);
      return;
    }
    // Reads and drops the remaining bytes. Unread bytes would turn the close into a reset, and the answer would be lost.
    request.resume();
    response.writeHead(STATUS, HEADERS).end(BODY);
  };
}
