import type { ContentsWriter, IndexedEntry } from '../../websites/backup-contents/contents-file.ts';
import { sparseWriter } from '../../websites/backup-contents/sparse-content.ts';
import type { ArchivedItem } from './archive-read.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import { partsOf } from './sparse-file.ts';

export interface IndexOptions {
  /** The parts that belong to the host. */
  isHidden(path: string): boolean;
  signal?: AbortSignal;
}

/** Lists an entry of a backup in its index. Places are numbers of entries. */
export function addToIndex(
  writer: ContentsWriter,
  entry: ArchivedItem['entry'],
  place: number,
  isHidden: IndexOptions['isHidden'],
): void {
  const isSuperseded = entry.type === 'file' && entry.superseded === true;
  if (entry.path === '.' || isSuperseded || isHidden(entry.path)) return;
  writer.add({
    path: entry.path,
    type: entry.type === 'directory' ? 'folder' : entry.type === 'symlink' ? 'link' : 'file',
    bytes: entry.type === 'file' ? entry.size : null,
    modifiedAt: Math.floor(Number(entry.mtime_ns) / 1e9),
    target: entry.type === 'symlink' ? entry.target : null,
    place,
    length: 1,
  });
}

/** Passes the content of an indexed file to `write`. `readItems` reads up to it. Errors: DamagedArchiveError. */
export async function extractIndexed(
  { path, place }: IndexedEntry,
  write: (bytes: Buffer) => Promise<void>,
  readItems: (visit: (item: ArchivedItem) => Promise<void>) => Promise<unknown>,
): Promise<void> {
  let number = 0;
  await readItems(async ({ entry, content }) => {
    const isWanted = number === place;
    number += 1;
    if (!isWanted) return;
    if (entry.type !== 'file' || entry.path !== path) {
      throw new DamagedArchiveError('its manifest is not the one that was indexed');
    }
    const file = sparseWriter(partsOf(entry), entry.size, write);
    for await (const bytes of content) await file.write(bytes);
    await file.end();
  });
}
