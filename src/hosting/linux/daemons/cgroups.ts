import { mkdir, open, readdir, readFile, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { ResourceLimits } from '../machine/daemon.ts';
import {
  delegateControllers,
  findHierarchies,
  type Hierarchies,
  hierarchyFolders,
  limitSettings,
} from './cgroup-hierarchies.ts';

/**
 * Groups of processes that share limits. Names are `[a-z0-9-]+`, unique on the host. On a machine that allows no limits (an
 * unprivileged container), all of this succeeds and limits nothing.
 */
export interface Cgroups {
  /** Creates the group if needed and sets its limits, null for none. They apply to its processes at once. */
  set(name: string, limits: ResourceLimits | null): Promise<void>;
  /**
   * Prefix of a command that starts it, with all its children, inside the group. Call {@link set} first. Empty if limits
   * cannot be set. Needs root.
   */
  enter(name: string): readonly string[];
  /** Moves a running process into the group; its later children follow. Creates the group if needed. */
  addProcess(name: string, pid: number): Promise<void>;
  /** Kills all its processes with SIGKILL. Resolves when all are gone; rejects after 10 s. */
  kill(name: string): Promise<void>;
  /** Kills its processes and removes the group. Succeeds if it is missing. */
  remove(name: string): Promise<void>;
  list(): Promise<string[]>;
  /** How the group differs from these limits, one sentence; null if it does not, or the machine allows no limits. */
  check(name: string, limits: ResourceLimits): Promise<string | null>;
  /** Current usage, including file cache; null if the group is missing or the usage unknown. */
  usage(name: string): Promise<{ memoryBytes: number; processes: number } | null>;
}

const KILL_WITHIN_MS = 10_000;

/**
 * Moves itself into the cgroups whose files come before `--`, and executes the command after it. Perl, because Debian always
 * has it and it starts in 2 ms; as an argument, so that no file is needed.
 */
const ENTER = [
  'while (defined(my $file = shift @ARGV)) {',
  '  last if $file eq "--";',
  // In Perl, `my` takes effect in the next statement.
  '  my $procs;',
  '  open($procs, ">", $file) && syswrite($procs, "0") && close($procs) or die "cannot enter $file: $!\\n";',
  '}',
  'exec { $ARGV[0] } @ARGV or die "cannot run $ARGV[0]: $!\\n";',
].join(' ');

/** `instance` distinguishes several hosts on the machine. `root` is the mount point of cgroups. */
export function createCgroups(options: { instance: string; log: Logger; root?: string }): Cgroups {
  const { instance, log, root = '/sys/fs/cgroup' } = options;
  const found = findHierarchies(root, `homeport-${instance}`);
  if ('unusable' in found) {
    log.warn({ reason: found.unusable }, 'this machine allows no limits on memory, processors and processes');
    return unlimited;
  }
  return cgroupsIn(found);
}

/** For machines that allow no limits. */
const unlimited: Cgroups = {
  set: async () => {},
  enter: () => [],
  addProcess: async () => {},
  kill: async () => {},
  remove: async () => {},
  list: async () => [],
  check: async () => null,
  usage: async () => null,
};

function cgroupsIn(hierarchies: Hierarchies): Cgroups {
  const hierarchyRoots = hierarchyFolders(hierarchies);
  const foldersOf = (name: string) => hierarchyRoots.map((folder) => join(folder, checkedName(name)));
  /** The hierarchy to list members in, if there are several. */
  const membersIn = hierarchies.version === 2 ? hierarchies.unified : hierarchies.pids;

  const serially = serializeByKey();
  /** Serialized, because the last removal also deletes the parent folder. */
  const oneByOne = (work: () => Promise<void>) => serially('groups', work);

  async function make(name: string): Promise<void> {
    const folders = foldersOf(name);
    await oneByOne(async () => {
      for (const folder of folders) {
        const made = await mkdir(folder, { recursive: true });
        if (hierarchies.version === 2 && made === hierarchies.unified) delegateControllers(made);
      }
    });
  }

  async function set(name: string, limits: ResourceLimits | null): Promise<void> {
    await make(name);
    for (const { hierarchy, file, value, optional } of limitSettings(hierarchies, limits)) {
      await writeControl(join(hierarchy, name, file), value, optional);
    }
  }

  async function check(name: string, limits: ResourceLimits): Promise<string | null> {
    const present = await Promise.all(
      foldersOf(name).map((folder) => readControl(join(folder, 'cgroup.procs'))),
    );
    if (present.includes(null)) return `the cgroup ${name} is missing`;
    // Some files are written twice; the last value counts.
    const settings = new Map(
      limitSettings(hierarchies, limits).map((setting) => [
        join(setting.hierarchy, name, setting.file),
        setting,
      ]),
    );
    for (const [path, { file, value, optional }] of settings) {
      const found = await readControl(path);
      if (found === value || (found === null && optional)) continue;
      return `the cgroup ${name} has ${file} ${found ?? 'missing'} instead of ${value}`;
    }
    return null;
  }

  async function kill(name: string): Promise<void> {
    const folder = join(membersIn, checkedName(name));
    const restore = await forbidForks(folder);
    try {
      for (let waited = 0; waited <= KILL_WITHIN_MS; waited += 5) {
        const members = await membersOf(folder);
        if (members.length === 0) return;
        const atOnce = await writeControl(join(folder, 'cgroup.kill'), '1', true);
        if (!atOnce) for (const pid of members) killProcess(pid);
        await pause(5);
      }
    } finally {
      await restore();
    }
    throw new Error(`processes of ${name} are still alive after SIGKILL`);
  }

  /** Version 1 lacks `cgroup.kill`: a process that forks faster than it is killed would survive. Returns the undo. */
  async function forbidForks(folder: string): Promise<() => Promise<void>> {
    const file = join(folder, 'pids.max');
    const before = hierarchies.version === 1 ? await readControl(file) : null;
    if (before === null) return async () => {};
    await writeControl(file, '0', true);
    return async () => void (await writeControl(file, before, true));
  }

  async function remove(name: string): Promise<void> {
    await kill(name);
    await oneByOne(async () => {
      for (const folder of foldersOf(name)) await removeGroup(folder);
      for (const folder of hierarchyRoots)
        if ((await groupsIn(folder)).length === 0) await removeGroup(folder);
    });
  }

  return {
    set,
    enter: (name) => [
      '/usr/bin/perl',
      '-e',
      ENTER,
      ...foldersOf(name).map((folder) => join(folder, 'cgroup.procs')),
      '--',
    ],
    async addProcess(name, pid) {
      await make(name);
      for (const folder of foldersOf(name)) {
        await writeControl(join(folder, 'cgroup.procs'), String(pid), false);
      }
    },
    kill,
    remove,
    check,
    async list() {
      return (await groupsIn(membersIn)).map((folder) => basename(folder));
    },
    async usage(name) {
      const version1 = hierarchies.version === 1;
      const memory = version1
        ? join(hierarchies.memory, checkedName(name), 'memory.usage_in_bytes')
        : join(hierarchies.unified, checkedName(name), 'memory.current');
      const memoryBytes = await readNumber(memory);
      const processes = await readNumber(join(membersIn, name, 'pids.current'));
      return memoryBytes === null || processes === null ? null : { memoryBytes, processes };
    },
  };
}

function checkedName(name: string): string {
  if (!/^[a-z0-9-]{1,100}$/.test(name))
    throw new PermanentHostError(`"${name}" cannot be the name of a cgroup`);
  return name;
}

/** False if the file is missing and `optional`. Never creates a file. */
async function writeControl(path: string, value: string, optional: boolean): Promise<boolean> {
  try {
    const file = await open(path, 'r+');
    try {
      await file.writeFile(value);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (optional && hasCode(error, 'ENOENT', 'EACCES')) return false;
    throw error;
  }
}

/** Processes of a cgroup and its children; none if it is missing. */
async function membersOf(folder: string): Promise<number[]> {
  try {
    const own = (await readFile(join(folder, 'cgroup.procs'), 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map(Number);
    const within = await Promise.all((await groupsIn(folder)).map(membersOf));
    return [...own, ...within.flat()];
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENODEV')) return [];
    throw error;
  }
}

/** Subfolders of a folder; none if it is missing. */
async function groupsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENODEV')) return [];
    throw error;
  });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has ended in the meantime.
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** The kernel allows the removal only a moment after the last process is gone. */
async function removeGroup(folder: string): Promise<void> {
  for (let tried = 0; ; tried++) {
    try {
      for (const within of await groupsIn(folder)) await removeGroup(within);
      await rmdir(folder);
      return;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return;
      if (!hasCode(error, 'EBUSY') || tried >= 200) throw error;
      await pause(10);
    }
  }
}

async function readNumber(path: string): Promise<number | null> {
  const text = await readControl(path);
  return text === null ? null : Number(text);
}

/** Null if the file is missing. */
async function readControl(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENODEV')) return null;
    throw error;
  }
}
