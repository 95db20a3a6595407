import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';
import { constants, createGzip, createZstdCompress, type Gzip, type ZstdCompress } from 'node:zlib';
import { isCompressedAnswer } from '../../policy/compression.ts';
import { acceptedCodings, type Coding, STREAM_CODINGS } from './content-coding.ts';

/** Compresses an answer on its way to the visitor. */
export type StreamCoding = (typeof STREAM_CODINGS)[number];

// Answers are compressed for one visitor alone, so at a low level.
const GZIP_LEVEL = 4;
const ZSTD_LEVEL = 3;
/** A window of 128 KiB, because each stream has its own. */
const ZSTD_WINDOW_LOG = 17;
/** Output of a program waits this long at most. */
const HELD_MS = 10;

/** At once, for all websites: each takes up to 1.7 MB while a slow visitor reads. */
export const MOST_COMPRESSORS = 128;
let compressors = 0;

/** The first coding that is possible for a stream; null if the visitor accepts none, or too many answers are being compressed. */
export function streamCodingOf(accepted: readonly Coding[]): StreamCoding | null {
  if (compressors >= MOST_COMPRESSORS) return null;
  return accepted.find(isStreamCoding) ?? null;
}

const isStreamCoding = (coding: Coding): coding is StreamCoding =>
  STREAM_CODINGS.some((other) => other === coding);

/** Streams for the body of one answer, to be piped one into the other. */
export function compressing(coding: StreamCoding): [Transform, Gzip | ZstdCompress] {
  const packer =
    coding === 'gzip'
      ? createGzip({ level: GZIP_LEVEL })
      : createZstdCompress({
          params: {
            [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL,
            [constants.ZSTD_c_windowLog]: ZSTD_WINDOW_LOG,
          },
        });
  compressors += 1;
  packer.once('close', () => {
    compressors -= 1;
  });
  const kind = coding === 'gzip' ? constants.Z_SYNC_FLUSH : constants.ZSTD_e_flush;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    if (!packer.destroyed && !packer.writableEnded) packer.flush(kind);
  };
  const intake = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      timer ??= setTimeout(flush, HELD_MS);
      done(null, chunk);
    },
    flush(done) {
      clearTimeout(timer);
      done();
    },
    destroy(error, done) {
      clearTimeout(timer);
      done(error);
    },
  });
  return [intake, packer];
}

/** Adds `Accept-Encoding` to `Vary`: a cache on the way must not give one visitor's coding to another. */
export function variedByCoding(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const vary = [headers.vary ?? []].flat().join(', ');
  if (/(?:^|[\s,])(?:\*|accept-encoding)(?:[\s,]|$)/i.test(vary)) return headers;
  return { ...headers, vary: vary === '' ? 'Accept-Encoding' : `${vary}, Accept-Encoding` };
}

/** The head of an answer in that coding; names are in lower case. */
export function codedHead(headers: OutgoingHttpHeaders, coding: Coding): OutgoingHttpHeaders {
  const { 'content-length': _length, 'accept-ranges': _ranges, etag, ...others } = headers;
  return {
    ...others,
    // Weak, as nginx makes it: the bytes differ from those that the program named.
    ...(typeof etag === 'string' ? { etag: etag.startsWith('W/') ? etag : `W/${etag}` } : {}),
    'content-encoding': coding,
  };
}

/**
 * The head of an answer that a program makes for one visitor, and the coding in which it is sent; null for none. The header names of the
 * answer are in lower case.
 */
export function codedStream(
  asked: IncomingHttpHeaders,
  status: number,
  headers: OutgoingHttpHeaders,
): { coding: StreamCoding | null; head: OutgoingHttpHeaders } {
  const one = (name: string) => {
    const value = headers[name];
    return value === undefined ? undefined : [value].flat().join(', ');
  };
  const isCompressed = isCompressedAnswer({
    status,
    contentType: one('content-type'),
    contentLength: one('content-length'),
    contentEncoding: one('content-encoding'),
    cacheControl: one('cache-control'),
  });
  if (!isCompressed) return { coding: null, head: headers };
  const head = variedByCoding(headers);
  const coding = streamCodingOf(acceptedCodings(asked['accept-encoding']));
  if (coding === null) return { coding, head };
  return { coding, head: codedHead(head, coding) };
}
