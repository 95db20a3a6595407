import { expect, it } from 'vitest';
import { compareCopy, notedText, parseNoted, sinceNoted } from './changed-files.ts';
import type { ListedEntry, WebsiteListing } from './website-listing.ts';

const AT = 1_000;

/** An entry that was changed at a time, in seconds. */
const entry = (changed: number, { type = 'f', kept = '644 5 900 ', inode = 1 } = {}): ListedEntry => ({
  type,
  kept,
  stamp: `900.0000000000 ${changed}.0000000000 8:${inode}`,
});
const listing = (entries: Record<string, ListedEntry>): WebsiteListing => new Map(Object.entries(entries));

const folder = entry(999, { type: 'd' });
const before = listing({ htdocs: folder, 'htdocs/a': entry(900), 'htdocs/b': entry(900, { inode: 2 }) });
const noted = await parseNoted(await notedText(before, AT));
const namesOf = async (now: WebsiteListing) => (await sinceNoted(now, noted)).names.split('\0').slice(0, -1);

it('copies folders, and files with another stamp', async () => {
  expect(await namesOf(before)).toEqual(['htdocs']);
  expect(
    await namesOf(listing({ htdocs: folder, 'htdocs/a': entry(1_005), 'htdocs/new': entry(900) })),
  ).toEqual(['htdocs', 'htdocs/a', 'htdocs/new']);
  // Renamed onto each other: same sizes and times, other inodes.
  const exchanged = { 'htdocs/a': entry(900, { inode: 2 }), 'htdocs/b': entry(900) };
  expect(await namesOf(listing(exchanged))).toEqual(['htdocs/a', 'htdocs/b']);
});

it('tells whether most bytes are to be copied, however many files they are in', async () => {
  const sized = (changed: number, megabytes: number) =>
    entry(changed, { kept: `644 ${megabytes}000000 900 ` });
  const isMost = async (changed: Record<string, ListedEntry>) =>
    (await sinceNoted(listing({ htdocs: folder, 'htdocs/a': sized(900, 5), ...changed }), noted)).isMost;
  expect(await isMost({ 'htdocs/new': sized(1_005, 5) })).toBe(false);
  expect(await isMost({ 'htdocs/new': sized(1_005, 6) })).toBe(true);
  expect((await sinceNoted(listing({ 'htdocs/new': sized(1_005, 1) }), noted)).isMost).toBe(false);
});

it.each([
  ['changed in the moments before the listing', entry(AT - 1)],
  ['of a time before 1970', { ...entry(900), stamp: '-1.5000000000 900.0000000000 8:1' }],
  ['no file', entry(900, { type: 'p' })],
])('copies what is %s, although its stamp is the same', async (_what, odd) => {
  const now = listing({ 'htdocs/a': odd });
  const { names } = await sinceNoted(now, await parseNoted(await notedText(now, AT)));
  expect(names).toBe('htdocs/a\0');
});

it('refuses a listing that is not whole', async () => {
  await expect(parseNoted('htdocs/a\0x\0')).rejects.toThrow(/damaged/);
});

it('deletes from the copy what was changed, deleted or became something else, and keeps the rest', async () => {
  const now = listing({
    htdocs: folder,
    'htdocs/a': entry(900),
    'htdocs/c': folder,
    'htdocs/d': entry(1_005),
  });
  const { kept } = await sinceNoted(now, noted);
  const copy = listing({
    htdocs: folder,
    'htdocs/a': entry(2_000, { inode: 7 }),
    'htdocs/b': entry(2_000, { inode: 8 }),
    'htdocs/c': entry(2_000, { inode: 9 }),
    'htdocs/d': folder,
    'htdocs/d/old': entry(2_000, { inode: 10 }),
  });
  expect(await compareCopy(copy, kept)).toEqual({
    doomed: ['htdocs/b', 'htdocs/c', 'htdocs/d', 'htdocs/d/old'],
    wrong: [],
  });
});

it('finds what the copy lacks, and what differs in it', async () => {
  const { kept } = await sinceNoted(before, noted);
  const differing = listing({ 'htdocs/a': entry(2_000, { kept: '644 6 900 ' }) });
  expect((await compareCopy(differing, kept)).wrong).toEqual(['htdocs/a', 'htdocs/b']);
});

it('lets the host answer while it compares many files', async () => {
  const many = new Map(Array.from({ length: 20_000 }, (_, number) => [`htdocs/${number}`, entry(900)]));
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  })();
  const at = async <Result>(work: Promise<Result>) => {
    const before = turns;
    const result = await work;
    expect(turns - before).toBeGreaterThan(5);
    return result;
  };
  const text = await at(notedText(many, AT));
  const { kept } = await at(sinceNoted(many, await at(parseNoted(text))));
  expect(await at(compareCopy(many, kept))).toEqual({ doomed: [], wrong: [] });
  isOver = true;
  await others;
});
