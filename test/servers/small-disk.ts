import { statfsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode } from '../../src/lib/error-code.ts';
import { runCommand } from '../../src/lib/run-command.ts';

/** A file system in memory whose room a test decides. */
export interface SmallDisk {
  path: string;
  /** Bytes in use. */
  used(): number;
  /** Leaves room for so many bytes, in whole pages. */
  leave(bytes: number): Promise<void>;
  /** Gives it its whole size back. */
  makeRoom(): Promise<void>;
  remove(): Promise<void>;
}

/** Mounts one of 64 MiB. Needs root. */
export async function mountSmallDisk(): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'homeport-disk-'));
  await runCommand('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=0700', 'tmpfs', path]);
  const ballast = join(path, 'ballast');
  const makeRoom = () => rm(ballast, { force: true });

  return {
    path,
    used() {
      const { blocks, bfree, bsize } = statfsSync(path);
      return (blocks - bfree) * bsize;
    },
    async leave(bytes) {
      await makeRoom();
      const { bfree, bsize } = statfsSync(path);
      const filled = Buffer.alloc(Math.max(0, bfree - Math.ceil(bytes / bsize)) * bsize);
      // A service on this disk may write meanwhile. Then it is full, too.
      await writeFile(ballast, filled).catch((error: unknown) => {
        if (!hasCode(error, 'ENOSPC')) throw error;
      });
    },
    makeRoom,
    async remove() {
      await runCommand('/usr/bin/umount', ['--lazy', path]);
      await rm(path, { recursive: true });
    },
  };
}
