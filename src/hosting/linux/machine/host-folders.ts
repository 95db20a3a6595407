import { chmod, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createFolders } from '../../../lib/create-folders.ts';
import type { LinuxLayout } from './layout.ts';

/** For root only: the contents are secret, or not yet assigned to a user. */
const PRIVATE_MODE = 0o700;
/** Anyone can pass through and no one can list: the folders inside have different owners. */
const PASSAGE_MODE = 0o711;
const PUBLIC_MODE = 0o755;

/** Creates the folders that the parts of the host expect. True if the host's folder is new. */
export async function makeHostFolders(layout: LinuxLayout): Promise<boolean> {
  const isNew = createFolders(layout.folder, PASSAGE_MODE);
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
    [layout.wpCli, PUBLIC_MODE],
    [layout.phpRoots, PUBLIC_MODE],
    [layout.templates, PRIVATE_MODE],
    [layout.records, PRIVATE_MODE],
    [layout.aside, PRIVATE_MODE],
    [layout.journals, PRIVATE_MODE],
    [layout.updates, PRIVATE_MODE],
    [layout.ssh, PUBLIC_MODE],
    [layout.backups, PRIVATE_MODE],
    [layout.scratch, PRIVATE_MODE],
    [dirname(layout.usage), PRIVATE_MODE],
    [layout.mail, PRIVATE_MODE],
  ];
  for (const [folder, mode] of folders) {
    await mkdir(folder, { recursive: true, mode });
    await chmod(folder, mode);
  }
  return isNew;
}
