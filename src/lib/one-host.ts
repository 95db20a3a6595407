interface Request {
  httpVersion: string;
  headers: { host?: string | undefined };
  rawHeaders: readonly string[];
}

/**
 * Whether a request has one `Host` header, as HTTP/1.1 requires (RFC 9112 section 3.2). HTTP/1.0 may omit it. HTTP/2 has a field of its own for
 * the host, which is in the headers if it is the only one.
 */
export function namesOneHost({ httpVersion, headers, rawHeaders }: Request): boolean {
  if (httpVersion === '2.0') return headers.host !== undefined;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}
