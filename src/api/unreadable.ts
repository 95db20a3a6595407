import { type IncomingMessage, type RequestListener, STATUS_CODES } from 'node:http';
import { INVALID_PARAMETERS } from '../failures.ts';

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
    if (saysItsHost(request)) {
      handler(request, response);
      return;
    }
    // What the client still sends is read and dropped: unread, it would make the end a reset that overtakes the answer.
    request.resume();
    response.writeHead(STATUS, HEADERS).end(BODY);
  };
}

/** HTTP/1.1 demands one `Host` (RFC 9112, section 3.2); HTTP/1.0 knew none. */
function saysItsHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}
