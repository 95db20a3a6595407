import type { Logger } from 'pino';
import { DAY_MS } from '../lib/durations.ts';
import type { BackupStorage, FilePlace } from './storage.ts';
import { readManifest } from './verify.ts';

/** No process still works on an unfinished backup of that age. */
const ABANDONED_MS = 2 * DAY_MS;

/**
 * Deletes all but the newest `keep` backups of one platform (by the fingerprint of its sealing key), and remains of
 * unfinished ones. Keeps backups with unreadable manifests. Returns the deleted names.
 */
export async function prunePlatformBackups(
  storage: BackupStorage,
  { platform, keep, now, log }: { platform: string; keep: number; now: Date; log: Logger },
): Promise<string[]> {
  const own: string[] = [];
  for (const name of await storage.list()) {
    const manifest = await readManifest(storage, name).catch(() => null);
    if (manifest?.platform === platform) own.push(name);
  }
  const spent = own.slice(0, Math.max(0, own.length - keep));
  for (const name of spent) await storage.remove(name);
  const abandoned = await removeAbandoned(storage, now);
  await storage.removeUnused({ before: abandonedBefore(now), used: filesInUse });
  return [...spent, ...abandoned];

  async function filesInUse(): Promise<{ backups: string[]; files: FilePlace[] } | null> {
    const files: FilePlace[] = [];
    const backups = await storage.list();
    for (const name of backups) {
      const manifest = await readManifest(storage, name).catch((err: unknown) => {
        log.warn(
          { err },
          `no file that backups share is deleted, because the manifest of ${name} cannot be read`,
        );
        return null;
      });
      if (manifest === null) return null;
      files.push(...manifest.files);
    }
    return { backups, files };
  }
}

const abandonedBefore = (now: Date): Date => new Date(now.getTime() - ABANDONED_MS);

/** Deletes the remains of unfinished backups that no process works on any more. Returns their names. */
export function removeAbandoned(storage: BackupStorage, now: Date): Promise<string[]> {
  return storage.removeUnfinished(abandonedBefore(now));
}
