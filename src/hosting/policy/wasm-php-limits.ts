import { LEAST_PHP, type PhpBounds } from '../../lib/php-limits.ts';
import { type PhpRanges, USUAL_LIMIT_MB, workerMemory } from './php-limits.ts';

/** Rough memory of a process that runs PHP as WebAssembly, in MiB: measured 312 with one thread, 418 with two. */
const PROCESS_MB = 200;
/** Each thread with a `memory_limit` of 256 MiB. */
export const THREAD_MB = 120;
/** The program of PHP can have 2 GiB: the memory of a page, an upload and PHP itself. */
const MOST_MEMORY_MB = 1_536;
/** Uploads wait in the memory of the process, and are copied into that of PHP. */
const MOST_UPLOAD_MB = 256;
/** Part of the memory of all websites that one may have. */
const SHARE = 1 / 2;
const SECONDS = 60;
/** WordPress requests itself. */
const THREADS = 2;

/** Rough memory of what runs a website's PHP, in MiB. */
export interface PhpMemory {
  processMb: number;
  /** Of each thread with a `memory_limit` of 256 MiB. */
  threadMb: number;
}

/** Of PHP as WebAssembly. */
export const WASM_MEMORY: PhpMemory = { processMb: PROCESS_MB, threadMb: THREAD_MB };

/** Of PHP-FPM: measured 80 MB with two workers and half of the 64 MB for compiled files. */
export const MACHINE_MEMORY: PhpMemory = { processMb: 100, threadMb: 40 };

/** Rough memory of the processes of a website with these limits, in MiB. */
export function siteMb(
  { processMb, threadMb }: PhpMemory,
  { memoryMb, threads }: { memoryMb: number; threads: number },
): number {
  return processMb + threads * workerMemory(memoryMb, threadMb);
}

/** Rough memory of a website with the default limits, in MiB. */
export const usualSiteMb = (memory: PhpMemory): number =>
  siteMb(memory, { memoryMb: USUAL_LIMIT_MB, threads: THREADS });

/**
 * The bounds where PHP is WebAssembly. `memoryMb`: of the processes of all websites. One website can have half of it, so that the others go
 * on, but at least what the defaults take.
 */
export function wasmPhpBounds(ranges: PhpRanges, memoryMb: number): PhpBounds {
  const { phpMemoryMb, phpUploadMb, phpSeconds, phpWorkers, phpInputVars } = ranges;
  const installMemoryMb = Math.max(THREADS * THREAD_MB, Math.floor(memoryMb * SHARE) - PROCESS_MB);
  /** How many times the usual two threads fit. */
  const times = installMemoryMb / (THREADS * THREAD_MB);
  const most = (range: { standard: number; most: number }, highest: number) =>
    Math.max(
      Math.min(range.standard, highest),
      Math.floor(Math.min(range.most, highest, range.standard * times)),
    );
  const mostMemoryMb = most(phpMemoryMb, MOST_MEMORY_MB);
  const mostUploadMb = most(phpUploadMb, MOST_UPLOAD_MB);
  return {
    standard: {
      memoryMb: Math.min(phpMemoryMb.standard, mostMemoryMb),
      uploadMb: Math.min(phpUploadMb.standard, mostUploadMb),
      seconds: Math.min(SECONDS, phpSeconds.standard),
      inputVars: phpInputVars.standard,
      workers: THREADS,
    },
    most: {
      memoryMb: mostMemoryMb,
      uploadMb: mostUploadMb,
      seconds: phpSeconds.most,
      workers: Math.max(LEAST_PHP.workers, phpWorkers),
      inputVars: phpInputVars.most,
    },
    installMemoryMb,
    workerMb: THREAD_MB,
  };
}
