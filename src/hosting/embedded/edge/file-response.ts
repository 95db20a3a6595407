import type { IncomingHttpHeaders } from 'node:http';
import { type Coding, codedTag } from './content-coding.ts';

/** One version of a file, as a response describes it. */
export interface FileVersion {
  /** Strong, quotes included. */
  etag: string;
  /** Whole seconds, never in the future. */
  modified: Date;
  /** The same, as HTTP writes it. */
  modifiedText: string;
  /** Bytes. */
  size: number;
  /** Content-Type. */
  type: string;
  /** Whether visitors who accept that get it compressed. */
  compressed: boolean;
}

/** Bytes of a file, both ends included. */
export interface ByteRange {
  start: number;
  end: number;
}

/** How to answer a GET or HEAD for a file. */
export interface FileResponse {
  status: 200 | 206 | 304 | 412 | 416;
  headers: Record<string, string | number>;
  /** The bytes to send; null for none. */
  body: ByteRange | null;
}

/**
 * Evaluates preconditions in the order of RFC 9110 section 13.2.2. `coding`: the one in which the visitor gets the whole file. Parts of
 * it are sent as they are.
 */
export function respondWithFile(
  method: 'GET' | 'HEAD',
  asked: IncomingHttpHeaders,
  file: FileVersion,
  coding: Coding | null = null,
): FileResponse {
  const modified = file.modifiedText;
  const headers: Record<string, string | number> = {
    ETag: file.etag,
    'Last-Modified': modified,
    // Visitors revalidate their copies, so everyone sees a purge at once.
    'Cache-Control': 'no-cache',
    'Accept-Ranges': 'bytes',
    'X-Content-Type-Options': 'nosniff',
  };
  if (file.compressed) headers.Vary = 'Accept-Encoding';
  if (preconditionFails(asked, file)) return { status: 412, headers, body: null };
  // Only what the visitor can read counts as their copy.
  const tags: readonly [string, ...string[]] =
    coding === null ? [file.etag] : [codedTag(file.etag, coding), file.etag];
  const same = unchangedTag(asked, file, tags);
  if (same !== null) return { status: 304, headers: { ...headers, ETag: same }, body: null };

  headers['Content-Type'] = file.type;
  const range = method === 'GET' && asked.range !== undefined ? parseRange(asked.range, file.size) : 'whole';
  if (range !== 'whole' && rangeHolds(asked['if-range'], file.etag, modified)) {
    if (range === 'unsatisfiable') {
      delete headers['Content-Type'];
      headers['Content-Range'] = `bytes */${file.size}`;
      return { status: 416, headers, body: null };
    }
    headers['Content-Range'] = `bytes ${range.start}-${range.end}/${file.size}`;
    headers['Content-Length'] = range.end - range.start + 1;
    return { status: 206, headers, body: range };
  }
  headers['Content-Length'] = file.size;
  const empty = method === 'HEAD' || file.size === 0;
  return { status: 200, headers, body: empty ? null : { start: 0, end: file.size - 1 } };
}

/** The head of a whole file in a coding. `length`: null if it is compressed on its way. */
export function codedHeaders(
  { ETag: _tag, 'Accept-Ranges': _ranges, 'Content-Length': _length, ...others }: FileResponse['headers'],
  { etag }: FileVersion,
  coding: Coding,
  length: number | null,
): FileResponse['headers'] {
  return {
    ...others,
    ETag: codedTag(etag, coding),
    'Content-Encoding': coding,
    ...(length === null ? {} : { 'Content-Length': length }),
  };
}

/** RFC 9110 sections 13.1.1 and 13.1.4. */
function preconditionFails(asked: IncomingHttpHeaders, { etag, modified }: FileVersion): boolean {
  const ifMatch = asked['if-match'];
  if (ifMatch !== undefined) return ifMatch.trim() !== '*' && !entityTags(ifMatch).includes(etag);
  const since = Date.parse(asked['if-unmodified-since'] ?? '');
  return modified.getTime() > since;
}

/** The tag of the visitor's copy if that is still the file (RFC 9110 sections 13.1.2 and 13.1.3); null if it is not. */
function unchangedTag(
  asked: IncomingHttpHeaders,
  { modified }: FileVersion,
  tags: readonly [string, ...string[]],
): string | null {
  const [selected] = tags;
  const ifNoneMatch = asked['if-none-match'];
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch.trim() === '*') return selected;
    const copies = entityTags(ifNoneMatch).map(opaqueTag);
    return tags.find((tag) => copies.includes(opaqueTag(tag))) ?? null;
  }
  return modified.getTime() <= Date.parse(asked['if-modified-since'] ?? '') ? selected : null;
}

/** Weak comparison: W/"x" matches "x". */
const opaqueTag = (tag: string): string => tag.replace(/^W\//, '');

function entityTags(list: string): string[] {
  return list.match(/(W\/)?"[^"]*"/g) ?? [];
}

/**
 * Whether a range of the present version may be sent (RFC 9110 section 13.1.5): If-Range is missing or names exactly this version.
 * `etag` is compared strongly, `modified` literally.
 */
export function rangeHolds(
  ifRange: string | string[] | undefined,
  etag: string | undefined,
  modified: string | undefined,
): boolean {
  if (ifRange === undefined) return true;
  if (typeof ifRange !== 'string' || ifRange.startsWith('W/')) return false;
  return ifRange === etag || ifRange === modified;
}

/**
 * Reads a Range header (RFC 9110 section 14.2) for a file of `size` bytes. Several ranges, other units and invalid headers get the whole file, as that section allows.
 */
function parseRange(header: string, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header);
  if (match === null) return 'whole';
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return 'whole';
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
