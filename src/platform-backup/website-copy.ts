import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError } from '../lib/operator-error.ts';
import { readChecked } from './checked-copy.ts';
import { DamagedBackup, type Manifest } from './manifest.ts';
import { type BackupStorage, beginningOf } from './storage.ts';
import { readManifest } from './verify.ts';
import { websiteStoreOf } from './website-packs.ts';
import type { OfferedBackups, WebsiteArchive, WebsiteStore } from './website-parts.ts';

/** The files of websites. The two last are of earlier versions. */
export const WEBSITE_FILE =
  /^websites\/([0-9a-f-]{36})(\.backup\.jsonl|\/packs\/[0-9a-f]{64}\.pack|\.tar\.zst|\.manifest\.jsonl)$/;

/** Where a website of a backup is, once its files are below `folder`. */
export function storeOrArchiveOf(
  id: string,
  { files }: Pick<Manifest, 'files'>,
  folder: string,
): WebsiteStore | WebsiteArchive {
  const store = websiteStoreOf(id);
  return files.some(({ path }) => path === store.manifest)
    ? { manifest: join(folder, store.manifest), packs: join(folder, store.packs) }
    : {
        archive: join(folder, `websites/${id}.tar.zst`),
        manifest: join(folder, `websites/${id}.manifest.jsonl`),
      };
}

/** The website of an install in a backup of the platform. */
export interface WebsiteCopy {
  manifest: Manifest;
  /** Of the install, when the backup was made. */
  id: string;
  name: string;
  /** Bytes as they are stored. */
  bytes: number;
  /** A job changed the website meanwhile, so its files may be of several moments. */
  changing: boolean;
}

export interface WantedCopy {
  /** A website with this id, in any backup. */
  id: string | null;
  /** Without one of that id, a website with this name, in backups of the platform with this fingerprint. */
  name: string | null;
  platform: string;
  /** The only backup to look into; null: all, the newest first. */
  backup: string | null;
  /** Only backups that began until then. */
  until: Date | null;
}

/** Finds the newest copy of a website. Throws OperatorError, which says why there is none; DamagedBackup. */
export async function findWebsiteCopy(storage: BackupStorage, wanted: WantedCopy): Promise<WebsiteCopy> {
  const { backup, until } = wanted;
  const names = backup === null ? (await storage.list()).reverse() : [backup];
  const reasons: string[] = [];
  for (const name of names) {
    const began = beginningOf(name);
    if (until !== null && (began === null || began > until)) continue;
    try {
      const found = copyIn(await readManifest(storage, name), wanted);
      if (typeof found !== 'string') return found;
      reasons.push(found);
    } catch (error) {
      // An earlier one may serve as well.
      if (!(error instanceof OperatorError) || backup !== null) throw error;
      reasons.push(error.message);
    }
  }
  const [first] = reasons;
  if (first !== undefined) throw new OperatorError(first);
  const when = until === null ? '' : ` that began until ${until.toISOString()}`;
  throw new OperatorError(
    `There is no complete backup in ${storage.address}${when}; "homeport platform backup list" shows all.`,
  );
}

/** The copy in one backup, or a sentence why it has none. */
function copyIn(manifest: Manifest, { id, name, platform }: WantedCopy): WebsiteCopy | string {
  if (manifest.host === 'linux') {
    return (
      `${manifest.name} has no websites: they are on the Linux hosts, and so are their backups (HOMEPORT_BACKUP_REPOSITORY). ` +
      '"homeport backup list" and "homeport backup restore" restore them.'
    );
  }
  const found =
    manifest.websites.find((website) => website.id === id) ??
    (manifest.platform === platform ? manifest.websites.find((website) => website.name === name) : undefined);
  if (found === undefined) return `${manifest.name} does not have the website of this install.`;
  if (found.missing !== null)
    return `${manifest.name} does not have the files of ${found.name}: ${found.missing}`;
  const bytes = filesOf(manifest, found.id).reduce(
    (sum, file) => sum + (file.pack?.used_bytes ?? file.bytes),
    0,
  );
  return { manifest, id: found.id, name: found.name, bytes, changing: found.changing };
}

const filesOf = ({ files }: Manifest, id: string) =>
  files.filter(({ path }) => WEBSITE_FILE.exec(path)?.[1] === id);

/**
 * Fetches the files of a website into the new folder `to`, and checks them. Errors: OperatorError, DamagedBackup, and those of the system.
 *
 * @param report gets the bytes that have been fetched
 */
export async function fetchWebsite(
  storage: BackupStorage,
  { manifest, id }: Pick<WebsiteCopy, 'manifest' | 'id'>,
  to: string,
  { signal, report }: { signal: AbortSignal; report(done: number, total: number): void },
): Promise<WebsiteStore | WebsiteArchive> {
  const files = filesOf(manifest, id);
  if (files.length === 0)
    throw new DamagedBackup(`${manifest.name} is damaged: the website ${id} is missing.`);
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const file of files) {
    signal.throwIfAborted();
    const path = join(to, file.path);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await readChecked(storage, manifest.name, file, { to: path, signal });
    done += file.bytes;
    report(done, total);
  }
  return storeOrArchiveOf(id, manifest, to);
}

/** The files of an install's own backups in a backup of the platform. Errors of `fetch`: as {@link fetchWebsite}. */
export function offeredBackups(
  storage: BackupStorage,
  { manifest, id }: Pick<WebsiteCopy, 'manifest' | 'id'>,
  signal: AbortSignal,
): OfferedBackups {
  const folder = `host/snapshots/${id}/`;
  const files = new Map(
    manifest.files
      .filter(({ path }) => path.startsWith(folder))
      .map((file) => [file.path.slice(folder.length), file]),
  );
  return {
    paths: new Set(files.keys()),
    async fetch(path, to) {
      const file = files.get(path);
      if (file === undefined) throw new Error(`the backup does not have ${path}`);
      await readChecked(storage, manifest.name, file, { to, signal });
    },
  };
}
