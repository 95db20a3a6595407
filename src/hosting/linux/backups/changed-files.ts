import type { ListedEntry, WebsiteListing } from './website-listing.ts';

/** Finds the files of a website that changed since its listing was noted. A move copies only these a second time. */

/** A listing that was noted before a snapshot. */
export interface NotedListing {
  /** When it began, in seconds since 1970. */
  at: number;
  /** {@link ListedEntry.stamp} by path. */
  stamps: ReadonlyMap<string, string>;
}

/** Two changes of a file within this time before a listing can have one stamp: clocks of file systems are coarse. Seconds. */
const SETTLED = 2;
/** Types that archives of tar give back exactly. */
const COMPARABLE = new Set(['f', 'l']);
const FOLDER = 'd';

export const notedText = (listing: WebsiteListing, at: number): string =>
  records([['', `${at}`], ...[...listing].map(([path, { stamp }]) => [path, stamp] as const)]);

/** Parses {@link notedText}. */
export function parseNoted(text: string): NotedListing {
  const stamps = parseRecords(text);
  // No entry has an empty path.
  const at = Number(stamps.get('') ?? 'none');
  if (!Number.isFinite(at)) throw new Error('the listing of a website is damaged');
  return { at, stamps };
}

/**
 * Divides a listing: `names` has the entries to copy, with all folders, whose modes and times may differ; `kept` describes what a copy
 * made after the noted listing has already, and is a member of the archive.
 */
export function sinceNoted(listing: WebsiteListing, noted: NotedListing): { names: string; kept: string } {
  const names: string[] = [];
  const kept: (readonly [string, string])[] = [];
  for (const [path, entry] of listing) {
    const isFolder = entry.type === FOLDER;
    const isKept = isFolder || isUnchanged(entry, noted.stamps.get(path), noted.at);
    if (isKept) kept.push([path, isFolder ? FOLDER : describe(entry)]);
    if (isFolder || !isKept) names.push(path);
  }
  return { names: names.map((path) => `${path}\0`).join(''), kept: records(kept) };
}

function isUnchanged({ type, stamp }: ListedEntry, before: string | undefined, at: number): boolean {
  const [modified = '', changed = ''] = stamp.split(' ');
  // tar rounds times before 1970 in another way.
  const isPlain = COMPARABLE.has(type) && !modified.startsWith('-');
  return isPlain && stamp === before && Number(changed) < at - SETTLED;
}

/** The form that an entry of a copy must have. */
const describe = ({ type, kept }: ListedEntry): string => `${type} ${kept}`;

/** How a copy that was made from the earlier snapshot differs from what the archive says it has. */
export interface CopyDifference {
  /** Entries to delete before the archive is unpacked, folders before what they contain. */
  doomed: string[];
  /** Entries that the copy lacks, or has in another form. */
  wrong: string[];
}

/** Compares a copy with {@link sinceNoted}'s `kept`. */
export function compareCopy(copy: WebsiteListing, kept: string): CopyDifference {
  const wanted = parseRecords(kept);
  const wrong = [...wanted].flatMap(([path, description]) => {
    if (description === FOLDER) return [];
    const present = copy.get(path);
    return present !== undefined && describe(present) === description ? [] : [path];
  });
  const doomed = [...copy].flatMap(([path, { type }]) => {
    const description = wanted.get(path);
    const isKept =
      type === FOLDER ? description === FOLDER : description !== undefined && description !== FOLDER;
    return isKept ? [] : [path];
  });
  return { doomed, wrong };
}

const records = (pairs: readonly (readonly [string, string])[]): string =>
  pairs.map(([path, value]) => `${path}\0${value}\0`).join('');

function parseRecords(text: string): Map<string, string> {
  const fields = text.split('\0');
  const found = new Map<string, string>();
  for (let at = 0; at + 1 < fields.length; at += 2) found.set(fields[at] ?? '', fields[at + 1] ?? '');
  return found;
}
