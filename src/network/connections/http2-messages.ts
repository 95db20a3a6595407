import type { OutgoingHttpHeaders, IncomingHttpHeaders as PlainHeaders } from 'node:http';
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import type { HttpRequest, HttpResponse } from './http-messages.ts';

/** A request over HTTP/2 with the headers that it would have over HTTP/1, so that the same rules read both. */
export class Http2Request extends Readable implements HttpRequest {
  readonly httpVersion = '2.0';
  readonly method: string;
  readonly url: string;
  readonly headers: PlainHeaders;
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  complete: boolean;
  readonly #stream: ServerHttp2Stream;
  readonly #onData: () => void;
  #isRead = false;

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
    socket: Socket,
    onData: () => void,
  ) {
    super();
    this.#stream = stream;
    this.#onData = onData;
    this.socket = socket;
    this.method = headers[':method'] ?? '';
    this.url = headers[':path'] ?? '';
    this.headers = plainHeaders(headers, stream.endAfterHeaders);
    this.rawHeaders = rawHeaders;
    this.complete = stream.endAfterHeaders;
  }

  override _read(): void {
    if (this.#isRead) {
      this.#stream.resume();
      return;
    }
    this.#isRead = true;
    this.#stream
      .on('data', (chunk: Buffer) => {
        this.#onData();
        if (!this.push(chunk)) this.#stream.pause();
      })
      .once('end', () => {
        // A cut upload ends, too.
        if (this.#stream.aborted) return;
        this.complete = true;
        this.push(null);
      });
  }
}

function plainHeaders(headers: IncomingHttpHeaders, isWhole: boolean): PlainHeaders {
  const { ':authority': authority, host } = headers;
  const plain: PlainHeaders = {};
  for (const name in headers) if (!name.startsWith(':')) plain[name] = headers[name];
  // RFC 9113 section 8.3.1: if both name the host, they agree. A request without a host is refused.
  if (authority !== undefined && host !== undefined && authority !== host) delete plain.host;
  else if (authority !== undefined) plain.host = authority;
  // No header has to announce a body.
  if (!isWhole && plain['content-length'] === undefined) plain['transfer-encoding'] = 'chunked';
  return plain;
}

/** Headers of one connection in HTTP/1, which RFC 9113 section 8.2.2 forbids. */
const NOT_IN_HTTP2 = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);
/** Node counts bytes that wait as memory of the connection, which refuses further requests then. */
const SLICE_BYTES = 32 * 1024;
const FRAME_BYTES = 9;
const FRAME_PAYLOAD_BYTES = 16 * 1024;
/** At most, of a field besides its name and value, and of a head with status, date and what every answer has. */
const FIELD_BYTES = 8;
const HEAD_BYTES = 128;

/** Bytes of the frames that hold so many. */
const framed = (bytes: number): number => bytes + FRAME_BYTES * Math.ceil(bytes / FRAME_PAYLOAD_BYTES);

/** A response over HTTP/2. It has finished when its last frame has been sent. */
export class Http2Response extends Writable implements HttpResponse {
  statusCode = 200;
  /** At least the bytes that it takes on the connection. */
  bytes = 0;
  readonly #stream: ServerHttp2Stream;
  readonly #isHead: boolean;
  #last: Buffer | null = null;
  #timer: NodeJS.Timeout | undefined;
  readonly #headers: Record<string, string> = {};

  constructor(stream: ServerHttp2Stream, method: string) {
    super();
    this.#stream = stream;
    this.#isHead = method === 'HEAD';
    stream.once('close', () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      const { rstCode } = stream;
      if (rstCode === constants.NGHTTP2_NO_ERROR && (this.writableEnded || this.#isHead)) return;
      this.destroy();
    });
    stream.once('wantTrailers', () => {
      if (this.writableEnded) stream.sendTrailers({});
    });
  }

  /** Begins the time without data again. */
  touch(): void {
    this.#timer?.refresh();
  }

  get headersSent(): boolean {
    return this.#stream.headersSent;
  }

  setHeader(name: string, value: string): void {
    const lower = name.toLowerCase();
    if (!NOT_IN_HTTP2.has(lower)) this.#headers[lower] = value;
  }

  getHeader(name: string): string | undefined {
    return this.#headers[name.toLowerCase()];
  }

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return this;
    const sent: OutgoingHttpHeaders = { ':status': status, ...this.#headers };
    for (const [name, value] of Object.entries(headers)) {
      const lower = name.toLowerCase();
      if (NOT_IN_HTTP2.has(lower)) continue;
      sent[lower] = value;
      this.bytes += name.length + String(value).length + FIELD_BYTES;
    }
    this.statusCode = status;
    this.bytes += HEAD_BYTES;
    // Without a length, only the missing end of the stream tells a cut answer. Node ends a stream before it resets it, unless trailers are due.
    const waitForTrailers = sent['content-length'] === undefined && !this.#isHead;
    stream.respond(sent, { waitForTrailers });
    return this;
  }

  /** Counts this response alone. Node's own time of a stream begins again with any data on the connection. */
  setTimeout(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const stream = this.#stream;
    if (ms > 0 && !stream.closed) {
      this.#timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), ms);
    }
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (this.#isHead) done();
    else if (chunk.length > SLICE_BYTES) this.#writeSlices(chunk, done);
    else {
      // By then it shows whether this is all: it goes with the end of the stream in one frame.
      process.nextTick(() => {
        const isAll = this.writableEnded && this.writableLength === chunk.length;
        if (!isAll) return this.#writeSlices(chunk, done);
        this.#last = chunk;
        done();
      });
    }
  }

  #writeSlices(chunk: Buffer, done: (error?: Error | null) => void): void {
    const slice = chunk.subarray(0, SLICE_BYTES);
    const rest = chunk.subarray(SLICE_BYTES);
    this.bytes += framed(slice.length);
    this.#stream.write(slice, (error) => {
      this.touch();
      if (error || rest.length === 0) done(error);
      else this.#writeSlices(rest, done);
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    const stream = this.#stream;
    if (!this.headersSent) this.writeHead(this.statusCode);
    this.bytes += FRAME_BYTES;
    if (stream.closed) {
      done();
      return;
    }
    stream.once('close', () => done());
    // The visitor need not send the rest of the request.
    const ended = (): void => {
      if (!stream.readableEnded && !stream.endAfterHeaders) stream.close(constants.NGHTTP2_NO_ERROR);
    };
    if (this.#last === null) stream.end(ended);
    else {
      this.bytes += framed(this.#last.length);
      stream.end(this.#last, ended);
    }
  }

  /** Cut in the middle, it must not look whole. */
  override _destroy(_error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    done();
  }
}
