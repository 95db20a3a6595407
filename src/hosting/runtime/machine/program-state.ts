import { stat } from 'node:fs/promises';

/** Differs after an update of one of these programs, or a change of names in one of these folders; null if one is missing. */
export async function stateOf(files: readonly string[]): Promise<string | null> {
  try {
    const all = await Promise.all(files.map((file) => stat(file, { bigint: true })));
    return all.map(({ ino, mtimeNs }) => `${ino}-${mtimeNs}`).join();
  } catch {
    // Removed, or being replaced.
    return null;
  }
}
