import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { asUser, type SandboxedInstall } from './sandbox.ts';

const PROC = '/proc';
/** SIGXFSZ in the masks of proc(5). It ends a process that does not ignore it, so only those of sandboxes are limited. */
const SIGXFSZ = 1n << 24n;

type Owner = Pick<SandboxedInstall, 'uid' | 'gid'>;

/** The sandboxed processes of all installs. */
export interface SandboxedProcesses {
  /**
   * Changes RLIMIT_FSIZE of those of an install, and of processes that they start. A write beyond that size of a file fails with "File too
   * large". Files can be read, deleted and made smaller. Null: the hard limit of the process.
   *
   * Only the soft limit changes, as the install's user: in containers, root may not raise the hard limit again.
   */
  limitWrites(install: Owner, bytes: number | null): Promise<void>;
}

/** Reads /proc once for all installs, because that takes long on a large machine. */
export async function findSandboxed(): Promise<SandboxedProcesses> {
  const byUser = new Map<number, string[]>();
  for (const id of await readdir(PROC)) {
    const uid = /^\d+$/.test(id) ? await sandboxedUser(id) : null;
    if (uid === null) continue;
    const others = byUser.get(uid);
    if (others === undefined) byUser.set(uid, [id]);
    else others.push(id);
  }
  return { limitWrites: (install, bytes) => limitWrites(install, byUser.get(install.uid) ?? [], bytes) };
}

async function limitWrites(install: Owner, pids: readonly string[], bytes: number | null): Promise<void> {
  for (const pid of pids) {
    // Another process can have its number by now.
    if ((await sandboxedUser(pid)) !== install.uid) continue;
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

/** The user id of a process that runs in a sandbox; null for others. */
async function sandboxedUser(pid: string): Promise<number | null> {
  const status = (await readProcess(pid, 'status')) ?? '';
  const ignored = /^SigIgn:\t([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
  if ((BigInt(`0x${ignored}`) & SIGXFSZ) === 0n) return null;
  // The owner of the folder is root for some processes.
  const uid = /^Uid:\t(\d+)\t/m.exec(status)?.[1];
  return uid === undefined ? null : Number(uid);
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
