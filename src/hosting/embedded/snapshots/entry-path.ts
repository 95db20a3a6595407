import { nameBytes, quoted } from '../../websites/backup-contents/archive-names.ts';
import type { ManifestEntry } from './archive-manifest.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import type { StoredEntry } from './stored-manifest.ts';

/**
 * The path of an entry, whose parent must be a folder entry seen earlier. So no entry can leave the folder, by `..` or through a link.
 */
export function relativePath(entry: ManifestEntry | StoredEntry, folders: Set<string>): Buffer {
  const isTop = entry.path === '.' && entry.path_base64 === undefined;
  const path = isTop ? Buffer.alloc(0) : nameBytes(entry.path, entry.path_base64);
  const text = path.toString('latin1');
  const slash = text.lastIndexOf('/');
  const name = text.slice(slash + 1);
  const isPlain = name !== '' && name !== '.' && name !== '..' && !name.includes('\0');
  const isInside = isPlain && slash !== 0 && folders.has(slash < 0 ? '' : text.slice(0, slash));
  if (isTop ? entry.type !== 'directory' || folders.size > 0 : !isInside) {
    throw new DamagedArchiveError(`the entry ${quoted(path)} would lie outside the folder`);
  }
  if (entry.type === 'directory') folders.add(text);
  return path;
}
