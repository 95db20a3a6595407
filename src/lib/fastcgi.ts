import { connect } from 'node:net';

/** FastCGI 1.0, the part that a client needs: one request per connection. */

const VERSION = 1;
const BEGIN_REQUEST = 1;
const END_REQUEST = 3;
const PARAMS = 4;
const STDIN = 5;
const STDOUT = 6;
const STDERR = 7;
const RESPONDER = 1;
const REQUEST_ID = 1;
const HEADER_BYTES = 8;
const MOST_CONTENT = 0xffff;

export type Params = Readonly<Record<string, string | Buffer>>;

export interface FastcgiAnswer {
  /** 200 if the application sets none. */
  status: number;
  body: string;
  /** Output for the web server's log. */
  errors: string;
}

export interface FastcgiOptions {
  /** Body of the request; empty if left out. */
  body?: string | Buffer;
  /** Milliseconds until the whole answer must be complete; 5 s if left out. */
  timeoutMs?: number;
  /** Longest answer in bytes, because a website could send without end; 1 MiB if left out. */
  mostBytes?: number;
}

/** The application took the request but did not answer in time: it is busy, not gone. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

const MOST_BYTES = 1024 * 1024;

/**
 * Sends a request to the application behind a Unix socket. Rejects if the application is gone, does not speak FastCGI, or
 * closes early; with a {@link NoAnswerError} if it is too slow.
 */
export function askFastcgi(
  socket: string,
  params: Params,
  { body = '', timeoutMs = 5_000, mostBytes = MOST_BYTES }: FastcgiOptions = {},
): Promise<FastcgiAnswer> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    let bytes = 0;
    const connection = connect(socket);
    const deadline = setTimeout(
      () => connection.destroy(new NoAnswerError(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    connection.once('error', reject);
    connection.on('data', (chunk: Buffer) => {
      received.push(chunk);
      bytes += chunk.length;
      if (bytes > mostBytes) connection.destroy(new Error(`the answer has more than ${mostBytes} bytes`));
    });
    connection.once('close', () => {
      clearTimeout(deadline);
      const answer = parseAnswer(Buffer.concat(received));
      if (answer === null) reject(new Error('the FastCGI application sent an incomplete answer'));
      else resolve(answer);
    });
    connection.write(encodeRequest(params, Buffer.from(body)));
  });
}

/** Section 3.3: the role, then the streams of parameters and input, each ended by an empty record. */
export function encodeRequest(params: Params, body: Buffer): Buffer {
  const begin = Buffer.alloc(8);
  begin.writeUInt16BE(RESPONDER);
  const pairs = Object.entries({ ...params, CONTENT_LENGTH: `${body.length}` }).map(([name, value]) => {
    const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
    return Buffer.concat([lengthOf(nameBytes), lengthOf(valueBytes), nameBytes, valueBytes]);
  });
  return Buffer.concat([
    record(BEGIN_REQUEST, begin),
    ...stream(PARAMS, Buffer.concat(pairs)),
    ...stream(STDIN, body),
  ]);
}

/** Section 3.4: one byte up to 127, else four with the highest bit set. */
function lengthOf({ length }: Buffer): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE((length | 0x80000000) >>> 0);
  return bytes;
}

function stream(type: number, content: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (let at = 0; at < content.length; at += MOST_CONTENT) {
    records.push(record(type, content.subarray(at, at + MOST_CONTENT)));
  }
  return [...records, record(type, Buffer.alloc(0))];
}

function record(type: number, content: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(VERSION, 0);
  header.writeUInt8(type, 1);
  header.writeUInt16BE(REQUEST_ID, 2);
  header.writeUInt16BE(content.length, 4);
  return Buffer.concat([header, content]);
}

/** Null if the answer is incomplete or not FastCGI. */
export function parseAnswer(bytes: Buffer): FastcgiAnswer | null {
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    if (bytes.readUInt8(at) !== VERSION) return null;
    const type = bytes.readUInt8(at + 1);
    const start = at + HEADER_BYTES;
    const end = start + bytes.readUInt16BE(at + 4);
    if (type === END_REQUEST)
      return parseOutput(Buffer.concat(output).toString(), Buffer.concat(errors).toString());
    if (type === STDOUT) output.push(bytes.subarray(start, end));
    if (type === STDERR) errors.push(bytes.subarray(start, end));
    at = end + bytes.readUInt8(at + 6);
  }
  return null;
}

/** RFC 3875 section 6: headers, an empty line, the body. */
function parseOutput(output: string, errors: string): FastcgiAnswer {
  const [headers = ''] = output.split(/\r?\n\r?\n/, 1);
  const status = /^status:\s*(\d{3})/im.exec(headers)?.[1] ?? '200';
  return { status: Number(status), body: output.slice(headers.length).replace(/^(\r?\n){2}/, ''), errors };
}
