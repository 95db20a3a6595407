/** Part of a file, both ends included. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * The range that a request asks for (RFC 9110, section 14.2): `unsatisfiable` if it begins after the end, and null for the whole
 * file. As the standard allows, several ranges and other units get the whole file.
 */
export function requestedRange(
  { range, 'if-range': condition }: { range?: string | undefined; 'if-range'?: string | undefined },
  file: { size: number; etag: string },
): ByteRange | 'unsatisfiable' | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range ?? '') ?? [];
  if (from === '' && to === '') return null;
  // The client has a part of another file.
  if (condition !== undefined && condition !== file.etag) return null;
  if (from === '') {
    const suffix = Number(to);
    return suffix === 0 ? 'unsatisfiable' : { first: Math.max(0, file.size - suffix), last: file.size - 1 };
  }
  const first = Number(from);
  const last = to === '' ? file.size - 1 : Math.min(Number(to), file.size - 1);
  if (to !== '' && Number(to) < first) return null;
  return first >= file.size ? 'unsatisfiable' : { first, last };
}
