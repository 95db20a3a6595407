/** Types of text beside `text/html`. */
export const TEXT_TYPES = [
  'text/css',
  'text/csv',
  'text/javascript',
  'text/markdown',
  'text/plain',
  'text/vtt',
  'text/xml',
  'application/javascript',
  'application/json',
  'application/manifest+json',
  'application/rss+xml',
  'image/svg+xml',
];

/**
 * Content that edges compress, beside `text/html`, which nginx compresses without being told. Pictures, fonts and archives of other types are
 * compressed already.
 */
export const COMPRESSED_TYPES = [
  ...TEXT_TYPES,
  'application/atom+xml',
  'application/ld+json',
  'application/vnd.ms-fontobject',
  'application/wasm',
  'application/xhtml+xml',
  'application/xml',
  'font/otf',
  'font/ttf',
  'image/bmp',
  'image/x-icon',
  'image/vnd.microsoft.icon',
];

/** Smaller answers fit into one packet anyway, in bytes. */
export const SMALLEST_COMPRESSED = 512;

const TYPES = new Set(['text/html', ...COMPRESSED_TYPES]);
/** As nginx's gzip. */
const STATUSES = new Set([200, 403, 404]);

/** Whether content of that type is compressed. `contentType`: with or without parameters. */
export function isCompressedType(contentType: string): boolean {
  return TYPES.has((contentType.split(';', 1)[0] ?? '').trim().toLowerCase());
}

/** The parts of an answer that decide whether it is compressed on its way. */
export interface CompressedAnswer {
  status: number;
  contentType?: string | undefined;
  contentLength?: string | undefined;
  contentEncoding?: string | undefined;
  cacheControl?: string | undefined;
}

/** Whether an answer that a program made is compressed, if its visitor accepts that. */
export function isCompressedAnswer(answer: CompressedAnswer): boolean {
  const { status, contentType = '', contentLength, contentEncoding = '', cacheControl = '' } = answer;
  if (!STATUSES.has(status) || contentEncoding !== '' || !isCompressedType(contentType)) return false;
  if (contentLength !== undefined && Number(contentLength) < SMALLEST_COMPRESSED) return false;
  // RFC 9111 section 5.2.2.6. A program that says so has its reasons.
  return !/(?:^|[\s,])no-transform(?:[\s,]|$)/i.test(cacheControl);
}

/**
 * Whether another website may have made the browser send a request. What such a page can send and measure reveals secrets of a compressed
 * answer (BREACH), so an individual answer to it is not compressed.
 */
export function isFromElsewhere(secFetchSite: string | string[] | undefined): boolean {
  return secFetchSite === 'cross-site' || secFetchSite === 'same-site';
}
