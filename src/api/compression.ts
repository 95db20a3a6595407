import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';

/** Smaller answers fit into one packet anyway. */
export const SMALLEST_COMPRESSED = 1024;

const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
/** About as fast as gzip, and a tenth smaller. */
const BROTLI_QUALITY = 4;

/** The content coding for an answer; undefined if the client accepts none or it saves too little. */
export function codingFor(acceptEncoding: string | undefined, body: string): Coding | undefined {
  if (acceptEncoding === undefined || body.length < SMALLEST_COMPRESSED) return undefined;
  const best = negotiate(acceptEncoding, [...CODINGS, 'identity']);
  return CODINGS.find((coding) => coding === best);
}

/** Compresses on a thread, so that other requests need not wait. */
export function compress(body: string, coding: Coding): Promise<Buffer> {
  if (coding === 'gzip') return compressGzip(body);
  return compressBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
