import { chmod, mkdir } from 'node:fs/promises';
import type { LinuxLayout } from './layout.ts';

/** Root's alone, for what is in them is secret or not yet anybody's. */
const PRIVATE_MODE = 0o700;
/** Everybody's to go through and nobody's to list: below them each has their own. */
const PASSAGE_MODE = 0o711;
const PUBLIC_MODE = 0o755;

/** Makes the folders that the parts of the host take for granted. True if the host's folder was not there. */
export async function makeHostFolders(layout: LinuxLayout): Promise<boolean> {
  const isNew = (await mkdir(layout.folder, { recursive: true, mode: PASSAGE_MODE })) !== undefined;
  const folders: [string, number][] = [
    [layout.folder, PASSAGE_MODE],
    [layout.runFolder, PASSAGE_MODE],
    [layout.installs, PASSAGE_MODE],
    [layout.caches, PASSAGE_MODE],
    [layout.proofs, PASSAGE_MODE],
    [layout.nginx, PASSAGE_MODE],
    [layout.scripts, PUBLIC_MODE],
    [layout.cores, PUBLIC_MODE],
    [layout.compiled, PUBLIC_MODE],
    [layout.phpRoots, PUBLIC_MODE],
    [layout.golden, PRIVATE_MODE],
    [layout.records, PRIVATE_MODE],
    [layout.aside, PRIVATE_MODE],
    [layout.journals, PRIVATE_MODE],
    [layout.ssh, PUBLIC_MODE],
    [layout.backups, PRIVATE_MODE],
    [layout.scratch, PRIVATE_MODE],
  ];
  for (const [folder, mode] of folders) {
    await mkdir(folder, { recursive: true, mode });
    await chmod(folder, mode);
  }
  return isNew;
}
