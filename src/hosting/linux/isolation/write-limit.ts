import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { asUser, type SandboxedInstall } from './sandbox.ts';

const PROC = '/proc';
/** SIGXFSZ in the masks of proc(5). It ends a process that does not ignore it, so only those of sandboxes are limited. */
const SIGXFSZ = 1n << 24n;

/**
 * Changes RLIMIT_FSIZE of all sandboxed processes of an install, and of processes that they start. A write beyond that size of a file
 * fails with "File too large". Files can be read, deleted and made smaller. Null: the hard limit of the process.
 *
 * Only the soft limit changes, as the install's user: in containers, root may not raise the hard limit again.
 */
export async function limitWrites(
  install: Pick<SandboxedInstall, 'uid' | 'gid'>,
  bytes: number | null,
): Promise<void> {
  for (const pid of await sandboxedProcesses(install.uid)) {
    const present = await fileSizeLimits(pid);
    if (present === null) continue;
    const wanted = bytes === null || bytes >= present.hard ? present.hard : bytes;
    if (wanted === present.soft) continue;
    const soft = wanted === Number.POSITIVE_INFINITY ? 'unlimited' : String(wanted);
    const [program, ...args] = asUser(install, ['/usr/bin/prlimit', `--pid=${pid}`, `--fsize=${soft}:`]);
    await runCommand(program, args).catch(async (error: unknown) => {
      if ((await fileSizeLimits(pid)) !== null) throw error;
    });
  }
}

async function sandboxedProcesses(uid: number): Promise<string[]> {
  const found: string[] = [];
  for (const id of await readdir(PROC)) {
    if (!/^\d+$/.test(id)) continue;
    const status = (await readProcess(id, 'status')) ?? '';
    // The owner of the folder is root for some processes.
    if (!new RegExp(`^Uid:\\t${uid}\\t`, 'm').test(status)) continue;
    const ignored = /^SigIgn:\t([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
    if ((BigInt(`0x${ignored}`) & SIGXFSZ) !== 0n) found.push(id);
  }
  return found;
}

/** Null if the process has ended. */
async function fileSizeLimits(pid: string): Promise<{ soft: number; hard: number } | null> {
  const limits = /^Max file size +(\d+|unlimited) +(\d+|unlimited) /m.exec(
    (await readProcess(pid, 'limits')) ?? '',
  );
  if (limits === null) return null;
  const [soft = 0, hard = 0] = limits
    .slice(1)
    .map((text) => (text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text)));
  return { soft, hard };
}

async function readProcess(pid: string, file: string): Promise<string | null> {
  try {
    return await readFile(join(PROC, pid, file), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return null;
    throw error;
  }
}
