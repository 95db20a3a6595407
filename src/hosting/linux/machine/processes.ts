import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../../lib/error-code.ts';

/** A process of this machine at one moment. */
export interface Process {
  pid: number;
  parent: number;
  /** Start time in clock ticks since boot. Together with the pid, it identifies the process. */
  startTime: number;
}

/** Null if the process is gone or a zombie. */
export async function processAt(pid: number): Promise<Process | null> {
  const stat = await readProc(`/proc/${pid}/stat`);
  // proc_pid_stat(5): the second field is a name in parentheses, which may contain spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields ?? [];
  const startTime = fields?.[19];
  if (state === undefined || parent === undefined || startTime === undefined) return null;
  if (state === 'Z' || state === 'X') return null;
  return { pid, parent: Number(parent), startTime: Number(startTime) };
}

/** Its real user id; null if it is gone. */
export async function userOf(pid: number): Promise<number | null> {
  const uid = /^Uid:\s+(\d+)/m.exec((await readProc(`/proc/${pid}/status`)) ?? '')?.[1];
  return uid === undefined ? null : Number(uid);
}

export async function isAlive({ pid, startTime }: Pick<Process, 'pid' | 'startTime'>): Promise<boolean> {
  return (await processAt(pid))?.startTime === startTime;
}

/** Those of `parents` with a child that runs as `uid` now. */
export async function withChildOf(uid: number, parents: ReadonlySet<number>): Promise<Set<number>> {
  const children = (await allProcesses()).filter(({ parent }) => parents.has(parent));
  const users = await Promise.all(children.map(({ pid }) => userOf(pid)));
  return new Set(children.filter((_child, at) => users[at] === uid).map(({ parent }) => parent));
}

const GRACE_MS = 1_000;
const KILL_WITHIN_MS = 5_000;
const STEP_MS = 20;
/** Each look reads all processes of the machine, so the pauses between looks become longer while a process takes its time. */
const LONGEST_STEP_MS = 160;

/**
 * Ends a process with all its descendants: by SIGTERM, and after a second by killing the whole tree. Succeeds if it has already
 * ended. Rejects if something survives.
 */
export async function endTree(root: Pick<Process, 'pid' | 'startTime'>): Promise<void> {
  let tree = await treeOf(root);
  for (const { pid } of tree.slice(0, 1)) send(pid, 'SIGTERM');
  let step = STEP_MS;
  for (let waited = 0; waited < GRACE_MS && tree.length > 0; ) {
    await pause(step);
    tree = await withOffspring(tree);
    waited += step;
    step = Math.min(2 * step, LONGEST_STEP_MS);
  }
  for (let waited = 0; tree.length > 0; waited += STEP_MS) {
    if (waited > KILL_WITHIN_MS) throw new Error(`process ${tree[0]?.pid} survives SIGKILL`);
    for (const { pid } of tree) send(pid, 'SIGKILL');
    await pause(STEP_MS);
    tree = await withOffspring(tree);
  }
}

async function treeOf(root: Pick<Process, 'pid' | 'startTime'>): Promise<Process[]> {
  const found = await processAt(root.pid);
  return found?.startTime === root.startTime ? withOffspring([found]) : [];
}

/** Living processes of `tree` with all their descendants, including new ones. */
async function withOffspring(tree: readonly Process[]): Promise<Process[]> {
  const all = await allProcesses();
  const byPid = new Map(all.map((process) => [process.pid, process]));
  const members = tree.filter(({ pid, startTime }) => byPid.get(pid)?.startTime === startTime);
  const pids = new Set(members.map(({ pid }) => pid));
  // The loop also visits the entries added here.
  for (const { pid } of members) {
    for (const child of all.filter(({ parent }) => parent === pid)) {
      if (pids.has(child.pid)) continue;
      pids.add(child.pid);
      members.push(child);
    }
  }
  return members;
}

/** All that have not ended. */
export async function allProcesses(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  return (await Promise.all(pids.map(processAt))).filter((process) => process !== null);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has ended in the meantime.
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** Null if the process is gone. */
async function readProc(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return null;
    throw error;
  }
}
