import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PhpSite } from './php-sites.ts';
import {
  DESCRIPTORS,
  nodeArguments,
  PROCESS_ENVIRONMENT,
  type ProcessPlace,
  type ProcessPlaces,
} from './process-place.ts';
import type { ProcessProgram } from './process-program.ts';
import type { PhpFolders } from './process-protocol.ts';
import { UnconfinedError } from './unconfined-error.ts';

const run = promisify(execFile);
/** A folder, and its name in what the process sees. */
interface Mount {
  source: string;
  target: string;
  isReadOnly?: boolean;
}
type CommonFolders = Pick<PhpFolders, 'core' | 'readOnly'>;

const TIMEOUT_MS = 60_000;
/** What the process sees. */
const SITE = '/site';
const APP = '/app';
const NODE = '/node';
// A service's folder of data is `nosuid`. mount(8) of Debian 12 would drop that flag, which the kernel refuses here.
const READ_ONLY = 'bind,ro,nosuid,nodev,noexec';
/** Mounts for each three arguments: options, source and target. One process, because a server with much memory starts none quickly. */
const MOUNT_ALL = 'while [ $# -gt 0 ]; do mount --options "$1" -- "$2" "$3" || exit; shift 3; done';
/** Folders of shared libraries, if the machine has them. */
const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/etc/ld.so.cache'];

/**
 * Places on Linux with unprivileged namespaces: bubblewrap shows a process its program and one empty folder, no network and no other
 * process. The folders of its website are mounted there later, which a mount namespace of the platform's own makes possible: what is
 * mounted in it appears in the processes too.
 *
 * @throws UnconfinedError if the machine lacks a program for it or does not allow it
 */
export async function createConfinedPlaces(folder: string, program: ProcessProgram): Promise<ProcessPlaces> {
  const slots = join(folder, 's');
  const staging = join(folder, 'staging');
  for (const path of [slots, staging]) await mkdir(path, { recursive: true, mode: 0o700 });
  const holder = spawn('unshare', ['--user', '--map-root-user', '--mount', '--propagation', 'slave', 'cat'], {
    // A Ctrl-C on the terminal would end it before running requests finish.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let complaint = '';
  holder.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const failed = new Promise<never>((_resolve, reject) => {
    holder.once('error', (error) => reject(UnconfinedError.from(error, '')));
    // Emitted after its last output.
    holder.once('close', () =>
      reject(UnconfinedError.from(new Error('the mount namespace ended'), complaint)),
    );
  });
  failed.catch(() => undefined);
  // It ends with the platform, because its input ends. Its echo shows that the namespace exists.
  holder.stdin.on('error', () => undefined);
  holder.stdin.write('\n');
  await Promise.race([once(holder.stdout, 'data'), failed]);
  const enter = ['--target', String(holder.pid), '--user', '--mount', '--preserve-credentials'];
  const inside = (...command: string[]) => run('nsenter', [...enter, ...command], { timeout: TIMEOUT_MS });
  try {
    await inside('mount', '--bind', slots, slots);
    await inside('mount', '--make-shared', slots);
    // Cheap, so that a slow machine is not taken for one without namespaces.
    await inside('bwrap', ...sandbox(slots, program), NODE, '--version');
  } catch (error) {
    holder.kill('SIGKILL');
    throw UnconfinedError.from(error, stderrOf(error));
  }
  let last = 0;

  async function create(): Promise<ProcessPlace> {
    const name = String(++last);
    const slot = join(slots, name);
    const stage = join(staging, name);
    const mounted: string[] = [];
    let common: Promise<CommonFolders> | undefined;
    // Not recursive: that would bring back the folder of a runtime that has been closed.
    await mkdir(slot, { mode: 0o700 });
    await mkdir(join(slot, 'run'), { mode: 0o700 });

    /** As {@link mountAll}, of folders that their owner may replace by links meanwhile. */
    async function mountPlain(folders: readonly Mount[]): Promise<string[]> {
      const opened: FileHandle[] = [];
      try {
        for (const { source } of folders) {
          opened.push(await open(source, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW));
        }
        const paths = await mountAll(folders);
        for (const [at, { source, target }] of folders.entries()) {
          const [wanted, shown] = await Promise.all([
            opened[at]?.stat({ bigint: true }),
            stat(join(`/proc/${holder.pid}/root`, slot, target), { bigint: true }),
          ]);
          if (shown.ino !== wanted?.ino || shown.dev !== wanted.dev) {
            throw new Error(`${source} was replaced by a symbolic link`);
          }
        }
        return paths;
      } finally {
        for (const file of opened) await file.close();
      }
    }

    /** Returns the paths that the process sees. */
    async function mountAll(mounts: readonly Mount[]): Promise<string[]> {
      const steps: string[] = [];
      for (const { source, target, isReadOnly = false } of mounts) {
        const path = join(slot, target);
        await mkdir(path);
        let from = source;
        if (isReadOnly) {
          // A mount inherits being read-only; making it so later would not reach the process.
          from = join(stage, target);
          await mkdir(from, { recursive: true });
          steps.push(READ_ONLY, source, from);
          mounted.push(from);
        }
        steps.push('bind', from, path);
        mounted.push(path);
      }
      await inside('/bin/sh', '-c', MOUNT_ALL, 'sh', ...steps);
      return mounts.map(({ target }) => join(SITE, target));
    }

    /** The folders that websites have in common, mounted once. */
    function commonFolders(site: PhpSite): Promise<CommonFolders> {
      common ??= mountCommon(site);
      return common;
    }

    async function mountCommon({ core, readOnly }: PhpSite): Promise<CommonFolders> {
      const others = Object.entries(readOnly);
      const [innerCore = '', ...folders] = await mountAll([
        { source: core, target: 'core', isReadOnly: true },
        ...others.map(([, source], at) => ({ source, target: `read-only-${at}`, isReadOnly: true })),
      ]);
      return {
        core: innerCore,
        readOnly: others.map(([path], at) => ({ path, folder: folders[at] ?? '' })),
      };
    }

    return {
      run: join(slot, 'run'),
      innerRun: join(SITE, 'run'),
      program: {
        path: 'nsenter',
        arguments: [...enter, 'bwrap', ...sandbox(slot, program), NODE, ...phpArguments(program)],
        environment: { PATH: process.env.PATH ?? '' },
      },
      async showPattern(pattern) {
        const [common, [website = '', own = '', database = '']] = await Promise.all([
          commonFolders(pattern),
          mountAll([
            { source: pattern.website, target: 'pattern', isReadOnly: true },
            { source: pattern.private, target: 'pattern-private', isReadOnly: true },
            { source: pattern.database, target: 'pattern-database', isReadOnly: true },
          ]),
        ]);
        return { ...common, website, private: own, database };
      },

      async show(site) {
        const [common, [website = '', own = '', database = '']] = await Promise.all([
          commonFolders(site),
          mountPlain([
            { source: site.website, target: 'website' },
            { source: site.private, target: 'private' },
            { source: site.database, target: 'database' },
          ]),
        ]);
        return { ...common, website, private: own, database };
      },
      async remove() {
        if (mounted.length > 0) await inside('umount', '--lazy', ...mounted.reverse()).catch(() => undefined);
        await rm(stage, { recursive: true, force: true });
        await rm(slot, { recursive: true, force: true });
      },
    };
  }

  const isUsable = () => holder.exitCode === null && holder.signalCode === null;
  return {
    walls: 'bubblewrap, virtual file system, Node permissions',
    get isUsable() {
      return isUsable();
    },
    create,
    async close() {
      holder.stdin.end();
      if (isUsable()) await once(holder, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function stderrOf(error: unknown): string {
  return error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
}

/** Arguments of bubblewrap, without the program. */
function sandbox(slot: string, { parts }: ProcessProgram): string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
    ...['--die-with-parent', '--new-session', '--clearenv'],
    ...Object.entries(PROCESS_ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
    ...LIBRARIES.filter((path) => existsSync(path)).flatMap((path) => bind(path, path)),
    ...bind(process.execPath, NODE),
    ...parts.flatMap(({ from, to }) => bind(from, join(APP, to))),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...['--bind', slot, SITE, '--chdir', APP, '--'],
  ];
}

function bind(from: string, to: string): string[] {
  return ['--ro-bind', from, to];
}

function phpArguments({ entry }: ProcessProgram): string[] {
  // With a star, because the folders do not exist when Node starts.
  const writable = ['website', 'private', 'database', 'run'].flatMap((name) => [
    join(SITE, name),
    join(SITE, name, '*'),
  ]);
  return nodeArguments(join(APP, entry), [APP, SITE, '/proc/self'], [DESCRIPTORS, ...writable]);
}
