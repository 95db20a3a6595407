import { setImmediate as nextTurn } from 'node:timers/promises';
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
const FILE = 'f';
/** Types that archives of tar give back exactly. */
const COMPARABLE = new Set([FILE, 'l']);
const FOLDER = 'd';
/** Less is copied quickly, again and again. */
const MANY_BYTES = 2 * 1024 * 1024;

export async function notedText(listing: WebsiteListing, at: number): Promise<string> {
  const text = startRecords();
  text.add('', `${at}`);
  await inTurns(listing, ([path, { stamp }]) => text.add(path, stamp));
  return text.whole();
}

/** Parses {@link notedText}. */
export async function parseNoted(text: string): Promise<NotedListing> {
  const stamps = await parseRecords(text);
  // No entry has an empty path.
  const at = Number(stamps.get('') ?? 'none');
  if (!Number.isFinite(at)) throw new Error('the listing of a website is damaged');
  return { at, stamps };
}

/**
 * Divides a listing: `names` has the entries to copy, with all folders, whose modes and times may differ; `kept` describes what a copy
 * made after the noted listing has already, and is a member of the archive. `isMost`: most bytes of files are to be copied, and they are many.
 */
export async function sinceNoted(
  listing: WebsiteListing,
  noted: NotedListing,
): Promise<{ names: string; kept: string; isMost: boolean }> {
  const names = startText();
  const kept = startRecords();
  const bytes = { copied: 0, all: 0 };
  await inTurns(listing, ([path, entry]) => {
    const isFolder = entry.type === FOLDER;
    const isKept = isFolder || isUnchanged(entry, noted.stamps.get(path), noted.at);
    if (isKept) kept.add(path, isFolder ? FOLDER : describe(entry));
    if (isFolder || !isKept) names.add(`${path}\0`);
    if (entry.type !== FILE) return;
    bytes.all += sizeOf(entry);
    if (!isKept) bytes.copied += sizeOf(entry);
  });
  return {
    names: names.whole(),
    kept: kept.whole(),
    isMost: bytes.copied > Math.max(MANY_BYTES, bytes.all / 2),
  };
}

const sizeOf = ({ kept }: ListedEntry): number => Number(kept.split(' ')[1]);

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
export async function compareCopy(copy: WebsiteListing, kept: string): Promise<CopyDifference> {
  const wanted = await parseRecords(kept);
  const difference: CopyDifference = { doomed: [], wrong: [] };
  await inTurns(wanted, ([path, description]) => {
    if (description === FOLDER) return;
    const present = copy.get(path);
    if (present === undefined || describe(present) !== description) difference.wrong.push(path);
  });
  await inTurns(copy, ([path, { type }]) => {
    const description = wanted.get(path);
    const isKept =
      type === FOLDER ? description === FOLDER : description !== undefined && description !== FOLDER;
    if (!isKept) difference.doomed.push(path);
  });
  return difference;
}

/** A website can have a million files. Work on this many takes some milliseconds, in which the host answers nothing else. */
const AT_ONCE = 2_000;

async function inTurns<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  let count = 0;
  for (const item of items) {
    work(item);
    count += 1;
    if (count % AT_ONCE === 0) await nextTurn();
  }
}

/** A text of many parts. */
function startText() {
  const whole: string[] = [];
  let parts: string[] = [];
  const close = () => {
    whole.push(parts.join(''));
    parts = [];
  };
  return {
    add(part: string): void {
      parts.push(part);
      if (parts.length === AT_ONCE) close();
    },
    whole(): string {
      close();
      return whole.join('');
    },
  };
}

function startRecords() {
  const text = startText();
  return { add: (path: string, value: string) => text.add(`${path}\0${value}\0`), whole: text.whole };
}

async function parseRecords(text: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  await inTurns(fieldPairs(text), ([path, value]) => found.set(path, value));
  return found;
}

function* fieldPairs(text: string): Generator<[string, string]> {
  for (let at = 0; ; ) {
    const middle = text.indexOf('\0', at);
    const end = middle < 0 ? -1 : text.indexOf('\0', middle + 1);
    if (end < 0) return;
    yield [text.slice(at, middle), text.slice(middle + 1, end)];
    at = end + 1;
  }
}
