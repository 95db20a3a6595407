import { remembered } from '../../../lib/remembered.ts';

/** The content codings of the edge, in the order in which equally welcome ones are chosen. */
export const CODINGS = ['br', 'zstd', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** Those in which an answer can be sent while it is made: Brotli takes longer for the same size there. */
export const STREAM_CODINGS = ['zstd', 'gzip'] as const satisfies readonly Coding[];

const QUALITY = /^\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/i;
/** Without a mention, `identity` is acceptable, but worse than everything that is mentioned. */
const UNMENTIONED = 0.0001;

/**
 * The codings that a visitor prefers to content without one, best first, from `Accept-Encoding` (RFC 9110 section 12.5.3). Visitors who
 * refuse everything that is possible get the content without a coding, as that section allows.
 */
export function acceptedCodings(header: string | string[] | undefined): readonly Coding[] {
  return header === undefined ? NONE : codingsIn(String(header));
}

const NONE: readonly Coding[] = [];
const codingsIn = remembered(parse);

function parse(header: string): readonly Coding[] {
  const qualities = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';');
    const quality = qualityOf(parameters);
    if (quality !== null) qualities.set(name.trim() === 'x-gzip' ? 'gzip' : name.trim(), quality);
  }
  // `*` chooses no coding, as with nginx: clients that send it cannot always read each of ours.
  const identity = qualities.get('identity') ?? UNMENTIONED;
  const quality = (coding: Coding): number => qualities.get(coding) ?? 0;
  return CODINGS.filter((coding) => quality(coding) > 0 && quality(coding) >= identity).toSorted(
    (a, b) => quality(b) - quality(a),
  );
}

/** Null for a quality that cannot be read. */
function qualityOf(parameters: readonly string[]): number | null {
  if (parameters.length === 0) return 1;
  const quality = parameters.length === 1 ? QUALITY.exec(parameters[0] ?? '')?.[1] : undefined;
  return quality === undefined ? null : Number(quality);
}

/** The entity tag of a version in a coding. Weak, because another release of a library may compress to other bytes. */
export function codedTag(etag: string, coding: Coding): string {
  return `W/${etag.slice(0, -1)}-${coding}"`;
}
