import type { IncomingMessage } from 'node:http';

/** Whether a request has one `Host` header, as HTTP/1.1 requires (RFC 9112 section 3.2). HTTP/1.0 may omit it. */
export function namesOneHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}
