import { lstat, writeFile } from 'node:fs/promises';
import { ifThere } from '../lib/if-there.ts';
import type { FormerFiles } from './former-backup.ts';
import type { BackedUpFile } from './manifest.ts';
import type { BackupDraft } from './storage.ts';

/** A pack of which a backup needs less is not reused: what it needs is stored again. */
const LEAST_SHARE = 0.5;
/** So many small packs are not reused, which joins them. */
const MOST_SMALL = 16;
const SMALL_BYTES = 4 * 1024 * 1024;

/** The manifest of a website, and the folder of its packs. */
export const websiteStoreOf = (installId: string) => ({
  manifest: `websites/${installId}.backup.jsonl`,
  packs: `websites/${installId}/packs`,
});

/**
 * Provides a website's packs of the former backup in the draft, so that their contents are not stored again. In a folder they are links,
 * for a bucket lists of their contents. Returns them by their names.
 */
export async function provideFormerPacks(
  draft: BackupDraft,
  former: FormerFiles,
  folder: string,
): Promise<Map<string, BackedUpFile>> {
  const packs = new Map<string, BackedUpFile>();
  for (const file of worthReusing(former.below(folder))) {
    const name = file.path.slice(folder.length + 1);
    if (name.includes('/')) continue;
    const reused = await former.reuse(draft, file);
    if (reused === null || file.pack === undefined) continue;
    const here = await draft.place(file.path);
    if ((await ifThere(lstat(here))) === null) {
      const list = await former.readEnd(file, file.pack.list_bytes);
      if (list === null) continue;
      await writeFile(listFileOf(here), list, { mode: 0o600 });
    }
    packs.set(name, reused);
  }
  return packs;
}

/** The list of a pack, in place of the pack. */
const listFileOf = (pack: string): string => `${pack}.list`;

/** Pure. */
export function worthReusing(packs: readonly BackedUpFile[]): BackedUpFile[] {
  const used = packs.filter(
    ({ bytes, pack }) => pack !== undefined && pack.used_bytes >= LEAST_SHARE * bytes,
  );
  const isSmall = ({ bytes }: BackedUpFile) => bytes < SMALL_BYTES;
  return used.filter(isSmall).length < MOST_SMALL ? used : used.filter((pack) => !isSmall(pack));
}
