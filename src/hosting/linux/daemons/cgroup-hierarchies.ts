import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { messageOf } from '../../../lib/error-message.ts';
import type { ResourceLimits } from '../machine/daemon.ts';

/**
 * Folders of one host's cgroups in the hierarchies that the kernel offers: one per controller (version 1), or one for all
 * (version 2). `kernel.org/doc/html/latest/admin-guide/cgroup-v1` and `…/cgroup-v2.html`.
 */
export type Hierarchies =
  | { version: 1; memory: string; cpu: string; pids: string }
  | { version: 2; unified: string };

/** A value for a control file of a cgroup. */
export interface CgroupSetting {
  /** Folder of the hierarchy: one of {@link hierarchyFolders}. */
  hierarchy: string;
  file: string;
  value: string;
  /** Kernels without swap accounting lack the file. */
  optional: boolean;
}

const CONTROLLERS = ['memory', 'cpu', 'pids'] as const;
const CPU_PERIOD_US = 100_000;

export function hierarchyFolders(hierarchies: Hierarchies): string[] {
  return hierarchies.version === 2
    ? [hierarchies.unified]
    : [hierarchies.memory, hierarchies.cpu, hierarchies.pids];
}

/** Values to write, in this order, to give a cgroup these limits; null removes the limits. */
export function limitSettings(hierarchies: Hierarchies, limits: ResourceLimits | null): CgroupSetting[] {
  const bytes = limits && String(limits.memoryMb * 1024 * 1024);
  const quota = limits && String(Math.max(1000, Math.round((limits.cpuPercent * CPU_PERIOD_US) / 100)));
  const processes = limits ? String(limits.processes) : 'max';
  if (hierarchies.version === 2) {
    const at = (file: string, value: string, optional = false) => ({
      hierarchy: hierarchies.unified,
      file,
      value,
      optional,
    });
    return [
      at('memory.max', bytes ?? 'max'),
      // Memory is sold per install, and a website that swaps slows down all the others.
      at('memory.swap.max', limits ? '0' : 'max', true),
      at('cpu.max', `${quota ?? 'max'} ${CPU_PERIOD_US}`),
      at('pids.max', processes),
    ];
  }
  const { memory, cpu, pids } = hierarchies;
  const swap = 'memory.memsw.limit_in_bytes';
  return [
    // The kernel refuses a memory limit above the limit of memory with swap, so lift that one first.
    { hierarchy: memory, file: swap, value: '-1', optional: true },
    { hierarchy: memory, file: 'memory.limit_in_bytes', value: bytes ?? '-1', optional: false },
    { hierarchy: memory, file: swap, value: bytes ?? '-1', optional: true },
    { hierarchy: cpu, file: 'cpu.cfs_period_us', value: String(CPU_PERIOD_US), optional: false },
    { hierarchy: cpu, file: 'cpu.cfs_quota_us', value: quota ?? '-1', optional: false },
    { hierarchy: pids, file: 'pids.max', value: processes, optional: false },
  ];
}

/**
 * Finds the usable hierarchies below `root` (`/sys/fs/cgroup`) and creates the folder `name` there, which holds the host's
 * cgroups. Returns the reason if limits cannot be set.
 */
export function findHierarchies(root: string, name: string): Hierarchies | { unusable: string } {
  try {
    return unifiedBelow(root, name) ?? separateBelow(root, name) ?? { unusable: absence(root) };
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'EBUSY', 'EOPNOTSUPP')) throw error;
    return { unusable: messageOf(error) };
  }
}

function unifiedBelow(root: string, name: string): Hierarchies | null {
  if (!CONTROLLERS.every((controller) => words(join(root, 'cgroup.controllers')).includes(controller))) {
    return null;
  }
  const unified = join(root, name);
  delegateControllers(root);
  mkdirSync(unified, { recursive: true });
  delegateControllers(unified);
  return { version: 2, unified };
}

/** Version 2: enables limits for the cgroups in this folder. */
export function delegateControllers(folder: string): void {
  const file = join(folder, 'cgroup.subtree_control');
  const delegated = words(file);
  const missing = CONTROLLERS.filter((controller) => !delegated.includes(controller));
  if (missing.length > 0) writeFileSync(file, missing.map((controller) => `+${controller}`).join(' '));
}

function separateBelow(root: string, name: string): Hierarchies | null {
  if (!CONTROLLERS.every((controller) => exists(join(root, controller, 'cgroup.procs')))) return null;
  const [memory, cpu, pids] = CONTROLLERS.map((controller) => join(root, controller, name));
  if (memory === undefined || cpu === undefined || pids === undefined) return null;
  for (const folder of [memory, cpu, pids]) mkdirSync(folder, { recursive: true });
  return { version: 1, memory, cpu, pids };
}

function absence(root: string): string {
  return `${root} has no controllers for ${CONTROLLERS.join(', ')}`;
}

function words(file: string): string[] {
  return exists(file) ? readFileSync(file, 'utf8').trim().split(/\s+/) : [];
}

function exists(file: string): boolean {
  try {
    accessSync(file, constants.F_OK);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}
