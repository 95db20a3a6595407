import { connect, type Socket } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import { encodeRequest, type Params } from '../../../lib/fastcgi.ts';

const STDOUT = 6;
const STDERR = 7;
const END_REQUEST = 3;
const HEADER_BYTES = 8;
const LONGEST_HEAD = 64 * 1024;
/** Output without a reader. Endless output must not hold the application. */
const MOST_UNREAD = 1024 * 1024;

/** The head of an answer (RFC 3875 section 6), and its body as it arrives. */
export interface FastcgiResponse {
  status: number;
  /** Names in lower case, a character for each byte. */
  headers: [name: string, value: string][];
  body: Readable;
}

export interface Exchange {
  response: Promise<FastcgiResponse>;
  /** Resolves when the application has ended the request, or the connection has closed. */
  ended: Promise<void>;
  /** Its reader has left: what the application still sends is dropped, and it is cut off if that is much. */
  leave(): void;
  /** Ends it: the response fails with this error, or is cut. */
  destroy(error: Error): void;
}

interface ExchangeOptions {
  params: Params;
  body: Buffer;
  /** Whether an answer that ended with this message of the application is not whole. */
  isBroken(message: string): boolean;
  /** Why there is no answer, or no whole one. */
  failure(): Error;
}

/** Sends a request to the application behind a Unix socket, and gives its answer as it arrives. The application waits for a slow reader. */
export function exchangeFastcgi(
  path: string,
  { params, body, isBroken, failure }: ExchangeOptions,
): Exchange {
  const socket: Socket = connect(path);
  const page = new PassThrough();
  let head: Buffer | null = Buffer.alloc(0);
  let rest: Buffer = Buffer.alloc(0);
  let messages = '';
  let isWhole = false;
  let given: Error | null = null;
  let status = 0;
  /** Bytes since the reader has left; null before. */
  let unread: number | null = null;
  let answer: (response: FastcgiResponse) => void = () => undefined;
  let refuse: (error: Error) => void = () => undefined;
  const response = new Promise<FastcgiResponse>((resolve, reject) => {
    answer = resolve;
    refuse = reject;
  });
  response.catch(() => undefined);
  page.on('error', () => undefined);
  // Its reader has left.
  page.once('close', () => socket.destroy());

  /** Takes output of PHP. Returns false if it must wait. */
  function take(chunk: Buffer): boolean {
    if (unread !== null) {
      unread += chunk.length;
      if (unread > MOST_UNREAD) socket.destroy();
    }
    if (head === null) return chunk.length === 0 || page.write(chunk);
    head = Buffer.concat([head, chunk]);
    const text = head.toString('latin1');
    const end = /\r?\n\r?\n/.exec(text);
    if (end === null) {
      if (head.length > LONGEST_HEAD) socket.destroy();
      return true;
    }
    const first = head.subarray(end.index + end[0].length);
    const parsed = parseHead(text.slice(0, end.index));
    head = null;
    status = parsed.status;
    answer({ ...parsed, body: page });
    return first.length === 0 || page.write(first);
  }

  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let mayGoOn = true;
    while (rest.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + rest.readUInt16BE(4);
      const padded = end + rest.readUInt8(6);
      if (rest.length < padded) break;
      const type = rest.readUInt8(1);
      const content = rest.subarray(HEADER_BYTES, end);
      rest = rest.subarray(padded);
      if (type === STDOUT) mayGoOn = take(content) && mayGoOn;
      else if (type === STDERR) messages = (messages + content.toString('utf8')).slice(-LONGEST_HEAD);
      else if (type === END_REQUEST) isWhole = true;
    }
    if (mayGoOn) return;
    socket.pause();
    page.once('drain', () => socket.resume());
  });
  socket.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
      if (unread !== null && head === null) page.end();
      else if (isWhole && head === null && (status >= 500 || !isBroken(messages))) page.end();
      else if (head === null) page.destroy(given ?? failure());
      else refuse(given ?? failure());
    });
  });
  socket.write(encodeRequest(params, body));
  return {
    response,
    ended,
    leave() {
      unread = 0;
    },
    destroy(error) {
      given = error;
      socket.destroy();
    },
  };
}

function parseHead(text: string): Pick<FastcgiResponse, 'status' | 'headers'> {
  let status = 200;
  const headers: [string, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'status') status = Number(value.slice(0, 3));
    else headers.push([name, value]);
  }
  // Other numbers are no status of an answer.
  return { status: status >= 200 && status <= 599 ? status : 500, headers };
}
