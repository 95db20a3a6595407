import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

/** A request over HTTP/1 or HTTP/2, with headers as HTTP/1 has them. */
export interface HttpRequest extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Whether all of its body has arrived. */
  readonly complete: boolean;
  /** The connection, which is that of other requests, too. */
  readonly socket: Socket;
}

/** The response to it. */
export interface HttpResponse extends Writable {
  readonly statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  getHeader(name: string): number | string | string[] | undefined;
  writeHead(status: number, headers?: OutgoingHttpHeaders): this;
  /** Ends the exchange after that time without data; 0 for never. */
  setTimeout(ms: number): unknown;
}

/** What handles both. */
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;
