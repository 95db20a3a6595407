import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PermanentHostError } from '../hosting/contract/errors.ts';
import { MOST_READ_BYTES } from '../hosting/contract/snapshots.ts';
import { RateLimited } from '../lib/failures.ts';
import { type ByteRange, requestedRange } from './byte-range.ts';

/** The file that a link opens. */
export interface Download {
  /** Downloads of the same id share a limit. */
  id: string;
  bytes: number;
  etag: string;
  contentType: string;
  fileName: string;
  /** Its name in messages, such as "archive". */
  what: 'archive' | 'file';
  read(part: { offset: number; length: number }): Promise<Buffer>;
  /** Whether a download in progress may continue. */
  mayContinue(): Promise<boolean>;
}

/** Downloads at once in this process, each with a few MiB of memory, and of one id. */
const MOST_DOWNLOADS = 32;
const MOST_OF_ONE = 4;
const RETRY_SECONDS = 10;
const STALL_MS = 120_000;

/** Sends downloads, whole or in ranges, as attachments. Disconnects clients that read nothing for `stallMs`. */
export function createFileSender(stallMs = STALL_MS) {
  const running = new Map<string, number>();
  let all = 0;

  /** Takes a slot. Returns its release, which works once. Throws RateLimited. */
  function takeSlot(id: string): () => void {
    const present = running.get(id) ?? 0;
    if (all >= MOST_DOWNLOADS || present >= MOST_OF_ONE) {
      throw new RateLimited(RETRY_SECONDS, 'Too many downloads at once');
    }
    running.set(id, present + 1);
    all += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      all -= 1;
      const left = (running.get(id) ?? 1) - 1;
      if (left === 0) running.delete(id);
      else running.set(id, left);
    };
  }

  async function* piecesOf(
    { id, what, read, mayContinue }: Download,
    { first, last }: ByteRange,
    stalled: () => void,
  ): AsyncGenerator<Buffer> {
    for (let offset = first; offset <= last; ) {
      if (offset > first && !(await mayContinue())) {
        throw new Error(`the ${what} ${id} was withdrawn during a download`);
      }
      const length = Math.min(MOST_READ_BYTES, last + 1 - offset);
      const bytes = await read({ offset, length });
      if (bytes.length === 0) throw new Error(`the ${what} ${id} is shorter than it was`);
      offset += bytes.length;
      const timer = setTimeout(stalled, stallMs);
      try {
        yield bytes;
      } finally {
        clearTimeout(timer);
      }
    }
  }

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    found: Download,
  ): Promise<FastifyReply> {
    const { id, bytes, etag, contentType, fileName, what } = found;
    reply.headers({
      'accept-ranges': 'bytes',
      etag,
      'cache-control': 'private, no-store, no-transform',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    const range = requestedRange(request.headers, { size: bytes, etag });
    if (range === 'unsatisfiable') {
      reply.header('content-range', `bytes */${bytes}`);
      return refuse(reply, 416, `The ${what} has ${bytes} bytes`);
    }
    const part = range ?? { first: 0, last: bytes - 1 };
    const release = takeSlot(id);
    try {
      const pieces = piecesOf(found, part, () => reply.raw.destroy());
      // The first piece shows whether the host answers, before the status is sent.
      const head = request.method === 'HEAD' ? null : await pieces.next();
      reply.code(range === null ? 200 : 206).headers({
        'content-type': contentType,
        'content-length': part.last + 1 - part.first,
        'content-disposition': attachment(fileName),
        ...(range === null ? {} : { 'content-range': `bytes ${part.first}-${part.last}/${bytes}` }),
      });
      if (head === null) {
        release();
        return reply.send();
      }
      const body = Readable.from(following(head, pieces), {
        objectMode: false,
        highWaterMark: MOST_READ_BYTES,
      });
      body.once('close', release);
      // The client may have gone while the first piece was read.
      if (reply.raw.destroyed) body.destroy();
      return reply.send(body);
    } catch (error) {
      release();
      throw error;
    }
  }

  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    find: () => Promise<Download | null>,
  ): Promise<FastifyReply> => {
    try {
      const found = await find();
      if (found === null) return refuse(reply, 403, 'The link is invalid or has expired. Make a new one.');
      return await answer(request, reply, found);
    } catch (error) {
      if (error instanceof PermanentHostError) return refuse(reply, 404, error.message);
      throw error;
    }
  };
}

/** The header with a name in ASCII, and its real one (RFC 6266) if that differs. */
export function attachment(fileName: string): string {
  const plain = fileName.replace(/[^ !#-~]|[%\\]/g, '_');
  if (plain === fileName) return `attachment; filename="${plain}"`;
  const encoded = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

async function* following(
  head: IteratorResult<Buffer, void>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (head.done === true) return;
  yield head.value;
  yield* rest;
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send({ message });
}
