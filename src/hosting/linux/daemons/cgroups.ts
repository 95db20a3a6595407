import { mkdir, open, readdir, readFile, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { PermanentHostError } from '../../contract/host.ts';
import type { ResourceLimits } from '../machine/daemon.ts';
import {
  findHierarchies,
  type Hierarchies,
  handDown,
  hierarchyFolders,
  limitSettings,
} from './cgroup-hierarchies.ts';

/**
 * Groups of processes with limits that count for all in a group together. Names are `[a-z0-9-]+`, unique on the host. On a
 * machine where no limits can be set (a container that may not) everything here succeeds and nothing is limited.
 */
export interface Cgroups {
  /** Makes the group where there is none and gives it these limits, null for none. In force at once for what runs in it. */
  set(name: string, limits: ResourceLimits | null): Promise<void>;
  /**
   * What a command has to begin with, so that it and its children run in the group from their first moment on. The group
   * must have been made by {@link set}. Empty where limits cannot be set. It needs root.
   */
  enter(name: string): readonly string[];
  /** Puts a running process in, made by whomever; its children from now on come with it. Makes the group where there is none. */
  addProcess(name: string, pid: number): Promise<void>;
  /** Ends every process in it by SIGKILL. Resolves when none is left; rejects if that takes 10 s. */
  kill(name: string): Promise<void>;
  /** Ends what still runs in it, and takes the group away. Removing what is not there is success. */
  remove(name: string): Promise<void>;
  list(): Promise<string[]>;
  /** What keeps the group from having just these limits, one sentence; null if nothing does, or nothing can be limited here. */
  check(name: string, limits: ResourceLimits): Promise<string | null>;
  /** What the group takes now, the file cache of its processes included; null where there is none or it is not known. */
  usage(name: string): Promise<{ memoryBytes: number; processes: number } | null>;
}

const KILL_WITHIN_MS = 10_000;

/**
 * Moves itself into the cgroups whose files come before `--`, and becomes the command behind. Perl, as Debian always has it
 * and starts in 2 ms; an argument, so that no file has to be in place.
 */
const ENTER = [
  'while (defined(my $file = shift @ARGV)) {',
  '  last if $file eq "--";',
  // A variable is there from the statement after its own.
  '  my $procs;',
  '  open($procs, ">", $file) && syswrite($procs, "0") && close($procs) or die "cannot enter $file: $!\\n";',
  '}',
  'exec { $ARGV[0] } @ARGV or die "cannot run $ARGV[0]: $!\\n";',
].join(' ');

/** `instance` names the host among several on the machine. `root` is where cgroups are mounted. */
export function createCgroups(options: { instance: string; log: Logger; root?: string }): Cgroups {
  const { instance, log, root = '/sys/fs/cgroup' } = options;
  const found = findHierarchies(root, `homeport-${instance}`);
  if ('unusable' in found) {
    log.warn(
      { reason: found.unusable },
      'no limits on memory, processors and processes can be set on this machine',
    );
    return unlimited;
  }
  return cgroupsIn(found);
}

/** Where nothing can be limited. */
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
  /** The one that tells who is in a group, where there are several. */
  const membersIn = hierarchies.version === 2 ? hierarchies.unified : hierarchies.pids;

  const serially = serializeByKey();
  /** One after the other, for the last that goes takes the folder of all with it. */
  const oneByOne = (work: () => Promise<void>) => serially('groups', work);

  async function make(name: string): Promise<void> {
    const folders = foldersOf(name);
    await oneByOne(async () => {
      for (const folder of folders) {
        const made = await mkdir(folder, { recursive: true });
        if (hierarchies.version === 2 && made === hierarchies.unified) handDown(made);
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
    if (present.includes(null)) return `the cgroup ${name} is not there`;
    // Some are written twice; the last time counts.
    const settings = new Map(
      limitSettings(hierarchies, limits).map((setting) => [
        join(setting.hierarchy, name, setting.file),
        setting,
      ]),
    );
    for (const [path, { file, value, optional }] of settings) {
      const found = await readControl(path);
      if (found === value || (found === null && optional)) continue;
      return `the cgroup ${name} has ${file} ${found ?? 'not at all'} instead of ${value}`;
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
    throw new Error(`processes of ${name} do not end although they were killed`);
  }

  /** Or what forks faster than it is killed would never end: version 1 has no `cgroup.kill`. Gives what allows them again. */
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

/** False if there is no such file and it is `optional`. Never makes one. */
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

/** The processes of a cgroup and of those within it; none if it is not there. */
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

/** The folders in a folder; none if it is not there. */
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
    // It has ended by itself meanwhile.
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** A group can be taken away a moment after its last process has gone. */
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

/** Null if there is no such file. */
async function readControl(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENODEV')) return null;
    throw error;
  }
}
