import { chmod, mkdir, readdir, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { writeAtomically } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { Proof } from '../../contract/proofs.ts';
import {
  assertChallengePlace,
  assertChallengeText,
  CHALLENGE_LIFETIME_MS,
} from '../../policy/challenge-rules.ts';

/** The proofs that are published: `<folder>/<host name>/<path>` is the text, and its time is when it was published. */
export interface ChallengeFiles {
  publish(proof: Proof): Promise<void>;
  withdraw(proof: Pick<Proof, 'hostname' | 'path'>): Promise<void>;
  /** Removes those that have ended. */
  sweep(): Promise<void>;
}

/** The folder is root's, and is made where it is missing; workers of nginx read it. */
export function createChallengeFiles({ folder, clock }: { folder: string; clock: Clock }): ChallengeFiles {
  const serially = serializeByKey();

  function fileOf({ hostname, path }: Pick<Proof, 'hostname' | 'path'>): string {
    assertChallengePlace({ hostname, path });
    return join(folder, hostname, path);
  }

  async function write(file: string, text: string): Promise<void> {
    await makeReadableFolder(dirname(file));
    await writeAtomically(file, text);
    const now = clock.now();
    await utimes(file, now, now);
    await chmod(file, 0o644);
  }

  /** As deep as a proof lies below the folder of proofs, whatever the umask of this process is. */
  async function makeReadableFolder(path: string): Promise<void> {
    await mkdir(path, { recursive: true });
    for (let at = path; at !== folder; at = dirname(at)) await chmod(at, 0o755);
  }

  async function sweep(): Promise<void> {
    const endedBy = clock.now().getTime() - CHALLENGE_LIFETIME_MS;
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    for (const entry of entries.filter((one) => one.isFile())) {
      const file = join(entry.parentPath, entry.name);
      const published = await publishedAt(file);
      if (published !== null && published <= endedBy) await rm(file, { force: true });
    }
    // The deepest first, so that folders are found empty.
    const folders = entries.filter((one) => one.isDirectory()).map((one) => join(one.parentPath, one.name));
    for (const path of folders.toSorted((a, b) => b.length - a.length)) await removeIfEmpty(path);
  }

  return {
    async publish(proof) {
      const file = fileOf(proof);
      assertChallengeText(proof.text);
      await serially('proofs', () => write(file, proof.text));
    },
    async withdraw(proof) {
      const file = fileOf(proof);
      await serially('proofs', () => rm(file, { force: true }));
    },
    sweep: () => serially('proofs', sweep),
  };
}

/** In milliseconds; null if it is gone. */
async function publishedAt(file: string): Promise<number | null> {
  return (await ifThere(stat(file)))?.mtimeMs ?? null;
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
  }
}
