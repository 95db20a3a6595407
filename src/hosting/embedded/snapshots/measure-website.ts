import { lstat } from 'node:fs/promises';
import { ifThere } from '../../../lib/if-there.ts';
import type { InstallLimits, InstallUsage } from '../../contract/install-limits.ts';
import type { Layout } from '../host-folder/layout.ts';
import { measureFiles } from './measure-files.ts';

/** Measures the document root and the database of a website together, as {@link measureFiles} does. */
export async function measureWebsite(
  layout: Pick<Layout, 'filesOf' | 'databaseOf'>,
  installId: string,
  limits: InstallLimits,
  signal?: AbortSignal,
): Promise<InstallUsage> {
  const files = await measureFiles(layout.filesOf(installId), limits, signal);
  const folder = layout.databaseOf(installId);
  if ((await ifThere(lstat(folder))) === null) return files;
  const database = await measureFiles(folder, limits, signal);
  return { bytes: files.bytes + database.bytes, files: files.files + database.files };
}
