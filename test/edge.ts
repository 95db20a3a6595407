import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import type { TestHomeport } from './homeport.ts';

/** The response to a visitor of a hosted name. */
export interface Visit {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** The names of the served certificate; empty over HTTP. */
  certificateNames: string;
  /** SHA-256 of the served certificate; empty over HTTP. */
  fingerprint: string;
}

/**
 * Opens a URL (`http://www.example.com/path`) as a browser whose DNS points to this Homeport's edge. The certificate is not
 * verified.
 */
export async function visit(
  { hosting }: Pick<TestHomeport, 'hosting'>,
  address: string,
  headers: Record<string, string> = {},
): Promise<Visit> {
  if (hosting === null) throw new Error('this Homeport has no edge');
  const { protocol, hostname, pathname, search } = new URL(address);
  const secure = protocol === 'https:';
  const place = secure ? hosting.edgeHttps : hosting.edgeHttp;
  const options = {
    host: place.host,
    port: place.port,
    path: `${pathname}${search}`,
    headers: { host: hostname, ...headers },
    agent: false as const,
  };
  return new Promise((resolve, reject) => {
    const request = secure
      ? httpsRequest({ ...options, servername: hostname, rejectUnauthorized: false })
      : httpRequest(options);
    let certificateNames = '';
    let fingerprint = '';
    request.on('socket', (socket) => {
      socket.once('secureConnect', () => {
        if (socket instanceof TLSSocket) {
          const certificate = socket.getPeerX509Certificate();
          certificateNames = certificate?.subjectAltName ?? '';
          fingerprint = certificate?.fingerprint256 ?? '';
        }
      });
    });
    request.on('response', (response) => {
      text(response).then(
        (body) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body,
            certificateNames,
            fingerprint,
          }),
        reject,
      );
    });
    request.on('error', reject);
    request.end();
  });
}
