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

/** The answer to bytes that are no HTTP request, as it is sent. They never reach the framework. */
export function unreadableAnswer(): string {
  const headers = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${STATUS} ${STATUS_CODES[STATUS]}`, ...headers, '', BODY].join('\r\n');
}

/** Answers requests that say no host, or several, in the same way; the others are the handler's. */
export function requireHost(handler: RequestListener): RequestListener {
  return (request, response) => {
    if (namesOneHost(request)) {
      handler(request, response);
      return;
    }
    // What the client still sends is read and dropped: unread, it would make the end a reset that overtakes the answer.
    request.resume();
    response.writeHead(STATUS, HEADERS).end(BODY);
  };
}
