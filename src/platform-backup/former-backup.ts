import { buffer } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { OperatorError } from '../lib/operator-error.ts';
import type { BackedUpFile, Manifest } from './manifest.ts';
import type { BackupDraft, BackupStorage } from './storage.ts';
import { readManifest } from './verify.ts';

/** Finds the newest readable backup of a platform, by the fingerprint of its sealing key. Null without one. */
export async function newestManifest(storage: BackupStorage, platform: string): Promise<Manifest | null> {
  for (const name of (await storage.list()).reverse()) {
    const manifest = await readManifest(storage, name).catch((error: unknown) => {
      // A damaged one, or one of a newer program: an earlier one serves as well.
      if (error instanceof OperatorError) return null;
      throw error;
    });
    if (manifest?.platform === platform) return manifest;
  }
  return null;
}

/** As newestManifest. Null, with a warning, if the destination cannot be read: some let only write, so that thieves cannot read backups there. */
export async function readableFormer(
  storage: BackupStorage,
  platform: string,
  log: Logger,
): Promise<Manifest | null> {
  try {
    return await newestManifest(storage, platform);
  } catch (err) {
    log.warn({ err }, 'the former platform backups cannot be read, so this one stores everything again');
    return null;
  }
}

/** The files of a former backup, which a new one need not store again. */
export interface FormerFiles {
  hasSize(path: string, bytes: number): boolean;
  /** The files below a folder. */
  below(folder: string): BackedUpFile[];
  /** Reads the end of a file. Null if it is gone or cannot be read, as in a bucket that has moved it to cold storage. */
  readEnd(file: BackedUpFile, bytes: number): Promise<Buffer | null>;
  /** Takes an equal file over into the draft. Null if the former backup has none. */
  reuse(draft: BackupDraft, file: BackedUpFile): Promise<BackedUpFile | null>;
}

/** Whether later backups may reuse a file: those of websites and their host. */
export const isShared = (path: string): boolean => /^(host|websites)\//.test(path);

/** No list of a pack is larger. */
const MOST_END_BYTES = 16 * 1024 * 1024;

export function formerFilesOf(former: Manifest | null, storage: BackupStorage, log: Logger): FormerFiles {
  let isReadable = true;
  const files = new Map(former?.files.filter(({ path }) => isShared(path)).map((file) => [file.path, file]));
  return {
    hasSize: (path, bytes) => files.get(path)?.bytes === bytes,
    below: (folder) => [...files.values()].filter(({ path }) => path.startsWith(`${folder}/`)),
    async readEnd(file, bytes) {
      if (former === null || !isReadable || bytes > Math.min(file.bytes, MOST_END_BYTES)) return null;
      try {
        const content = await storage.read(former.name, file, file.bytes - bytes);
        return content === null ? null : await buffer(content);
      } catch (err) {
        // The others would each take as long to fail.
        isReadable = false;
        log.warn({ err }, 'the former packs of websites cannot be read, so their contents are stored again');
        return null;
      }
    },
    async reuse(draft, { path, bytes, sha256 }) {
      const known = files.get(path);
      if (former === null || known?.sha256 !== sha256 || known.bytes !== bytes) return null;
      const place = await draft.reuse(former.name, known);
      return place === null ? null : { ...place, bytes, sha256 };
    },
  };
}
