import { OperatorError } from '../lib/operator-error.ts';
import type { Manifest } from './manifest.ts';
import type { BackupStorage } from './storage.ts';
import { readManifest } from './verify.ts';

/** The manifest of the newest readable backup of a platform, by the fingerprint of its sealing key; null if there is none. */
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
