import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { MOST_READ_BYTES } from '../../../hosting/contract/snapshots.ts';
import { RateLimited } from '../../../lib/failures.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { DOWNLOAD_PATH } from '../archives/link.ts';
import type { ArchiveService } from '../archives/service.ts';
import { type ByteRange, requestedRange } from './byte-range.ts';

export interface DownloadsOptions {
  archives: Pick<ArchiveService, 'findByLink' | 'mayContinue'>;
  /** Reads from the host of an install. */
  readPacked: Host['readPacked'];
  /** Counts a request by its address. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Milliseconds after which a client that reads nothing is disconnected. */
  stallMs?: number;
}

/** Downloads at once in this process, each with a few MiB of memory, and of one archive. */
const MOST_DOWNLOADS = 32;
const MOST_OF_ONE = 4;
const RETRY_SECONDS = 10;
const STALL_MS = 120_000;

type Download = NonNullable<Awaited<ReturnType<ArchiveService['findByLink']>>>;

/** Serves archives to everyone with a signed link, whole or in ranges. Reads them piece by piece from their host. */
export function archiveDownloads({ archives, readPacked, admit, stallMs = STALL_MS }: DownloadsOptions) {
  const running = new Map<string, number>();
  let all = 0;

  /** Takes a slot. Returns its release, which works once. Throws RateLimited. */
  function takeSlot(archiveId: string): () => void {
    const present = running.get(archiveId) ?? 0;
    if (all >= MOST_DOWNLOADS || present >= MOST_OF_ONE) {
      throw new RateLimited(RETRY_SECONDS, 'Too many downloads at once');
    }
    running.set(archiveId, present + 1);
    all += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      all -= 1;
      const left = (running.get(archiveId) ?? 1) - 1;
      if (left === 0) running.delete(archiveId);
      else running.set(archiveId, left);
    };
  }

  async function* piecesOf(
    archive: Download,
    { first, last }: ByteRange,
    stalled: () => void,
  ): AsyncGenerator<Buffer> {
    for (let offset = first; offset <= last; ) {
      if (offset > first && !(await archives.mayContinue(archive.id))) {
        throw new Error(`the archive ${archive.id} was withdrawn during a download`);
      }
      const length = Math.min(MOST_READ_BYTES, last + 1 - offset);
      const bytes = await readPacked(archive.install, archive.id, { offset, length });
      if (bytes.length === 0) throw new Error(`the archive ${archive.id} is shorter than it was`);
      offset += bytes.length;
      const timer = setTimeout(stalled, stallMs);
      try {
        yield bytes;
      } finally {
        clearTimeout(timer);
      }
    }
  }

  async function find({ params, query }: FastifyRequest): Promise<Download | null> {
    const archiveId = parseUuid(textOf(params, 'archive_id') ?? '');
    const [expires, signature] = [textOf(query, 'expires'), textOf(query, 'signature')];
    if (archiveId === undefined || expires === undefined || signature === undefined) return null;
    return archives.findByLink(archiveId, { expires, signature });
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const archive = await find(request);
    if (archive === null) {
      return refuse(reply, 403, 'The link is invalid or has expired. Make a new archive.');
    }
    const etag = `"${archive.sha256}"`;
    reply.headers({
      'accept-ranges': 'bytes',
      etag,
      'cache-control': 'private, no-store, no-transform',
      'referrer-policy': 'no-referrer',
    });
    const range = requestedRange(request.headers, { size: archive.bytes, etag });
    if (range === 'unsatisfiable') {
      reply.header('content-range', `bytes */${archive.bytes}`);
      return refuse(reply, 416, `The archive has ${archive.bytes} bytes`);
    }
    const part = range ?? { first: 0, last: archive.bytes - 1 };
    const release = takeSlot(archive.id);
    try {
      const pieces = piecesOf(archive, part, () => reply.raw.destroy());
      // The first piece shows whether the host answers, before the status is sent.
      const head = request.method === 'HEAD' ? null : await pieces.next();
      reply.code(range === null ? 200 : 206).headers({
        'content-type': 'application/gzip',
        'content-length': part.last + 1 - part.first,
        'content-disposition': `attachment; filename="${fileNameOf(archive)}"`,
        ...(range === null ? {} : { 'content-range': `bytes ${part.first}-${part.last}/${archive.bytes}` }),
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
      if (error instanceof PermanentHostError) return refuse(reply, 404, error.message);
      throw error;
    }
  }

  return async (app: FastifyInstance): Promise<void> => {
    app.route({
      method: ['GET', 'HEAD'],
      url: `${DOWNLOAD_PATH}/:archive_id`,
      exposeHeadRoute: false,
      onRequest: admit,
      handler: answer,
    });
  };
}

async function* following(
  head: IteratorResult<Buffer, void>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (head.done === true) return;
  yield head.value;
  yield* rest;
}

function fileNameOf({ install, created_at }: Download): string {
  return `${install.name}-${created_at.slice(0, 10)}.tar.gz`;
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send({ message });
}

/** A parameter that was given once. */
function textOf(parameters: unknown, name: string): string | undefined {
  const value: unknown =
    typeof parameters === 'object' && parameters !== null ? Reflect.get(parameters, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}
