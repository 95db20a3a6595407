import type { PhpSite } from './php-sites.ts';
import type { PhpFolders } from './process-protocol.ts';

/** How to start a program. */
export interface Program {
  path: string;
  arguments: string[];
  environment: Record<string, string>;
}

/** Where a process of PHP runs. It exists before the process knows its website. */
export interface ProcessPlace {
  /** Folder of the sockets, as the platform sees it. */
  run: string;
  /** The same folder as the process sees it. */
  innerRun: string;
  program: Program;
  /**
   * Lets the process see the folders of a website with which it warms up, and change none of them. Returns their paths in the process,
   * which sees one website after it, with the same core and further folders.
   */
  showPattern(pattern: PhpSite): Promise<PhpFolders>;
  /** Lets the process see the folders of a website, and returns their paths in the process. */
  show(site: PhpSite): Promise<PhpFolders>;
  /** After the process has ended. */
  remove(): Promise<void>;
}

/** Makes places for processes: confined by the kernel or by Node only. */
export interface ProcessPlaces {
  /** What keeps a process from the machine, for the log. */
  readonly walls: string;
  /** False once no more places can be created. */
  readonly isUsable: boolean;
  create(): Promise<ProcessPlace>;
  close(): Promise<void>;
}

/** The longest start, on a busy machine: of writing the program, and of a process. */
export const START_MS = 120_000;

/** Half of the memory for new objects of each thread. V8 would let it grow to 16 MB, for programs that keep more of them than PHP does. */
const YOUNG_MB = 1;

/** Node's own limits: a seat belt, because a program that breaks out of V8 ends them. Returns arguments of Node. */
export function nodeArguments(entry: string, read: readonly string[], write: readonly string[]): string[] {
  return [
    '--permission',
    '--allow-worker',
    `--max-semi-space-size=${YOUNG_MB}`,
    ...read.map((path) => `--allow-fs-read=${path}`),
    ...write.map((path) => `--allow-fs-write=${path}`),
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
    '--no-addons',
    entry,
  ];
}

/**
 * One arena of malloc instead of one for each thread saves 50 MB. Fixed thresholds save another 30 MB: V8 frees much after it has compiled
 * PHP, and glibc would keep it.
 */
export const PROCESS_ENVIRONMENT = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/** The process's own open files, whose modes and times it changes. */
export const DESCRIPTORS = '/proc/self/fd/*';
