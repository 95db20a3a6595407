import {
  LEAST_PHP,
  NO_PHP_LIMITS,
  type PhpBounds,
  type PhpLimit,
  type PhpLimits,
  type PhpSettings,
} from '../../lib/php-limits.ts';

/** Rough memory of an active worker in MiB (measured: 7 MB private, up to 50 MB with large plugins). */
const WORKER_MEMORY_MB = 48;
/** The `memory_limit` of a worker with that memory. Others take as large a share of theirs. */
export const USUAL_LIMIT_MB = 256;

/** Rough memory of a worker with this `memory_limit`, in MiB. `workerMb`: that of one with 256 MiB. */
export function workerMemory(memoryMb: number, workerMb: number): number {
  return workerMb * Math.max(1, memoryMb / USUAL_LIMIT_MB);
}

/** The most workers with this `memory_limit` that fit into the memory of the install. */
export function mostWorkers(
  { most, installMemoryMb, workerMb = WORKER_MEMORY_MB }: PhpBounds,
  memoryMb: number,
): number {
  const each = workerMemory(memoryMb, workerMb);
  return Math.max(LEAST_PHP.workers, Math.min(most.workers, Math.floor(installMemoryMb / each)));
}

/** The limits that PHP gets: those of the install within the bounds, and the defaults for the others. */
export function effectivePhp(bounds: PhpBounds, limits: PhpLimits | null | undefined): PhpSettings {
  const { memoryMb, uploadMb, seconds, workers, inputVars } = limits ?? NO_PHP_LIMITS;
  const { standard, most } = bounds;
  const memory = Math.min(memoryMb ?? standard.memoryMb, most.memoryMb);
  return {
    memoryMb: memory,
    uploadMb: Math.min(uploadMb ?? standard.uploadMb, most.uploadMb),
    seconds: Math.min(seconds ?? standard.seconds, most.seconds),
    workers: Math.min(workers ?? standard.workers ?? most.workers, mostWorkers(bounds, memory)),
    inputVars: Math.min(inputVars ?? standard.inputVars, most.inputVars),
  };
}

/** A limit outside of the bounds. `least` and `most` are what the install may have. */
export interface PhpLimitFault {
  limit: PhpLimit;
  least: number;
  most: number;
}

/** The limits that are outside of the bounds. The most workers depend on `memoryMb`. */
export function faultsOfLimits(bounds: PhpBounds, limits: PhpLimits): PhpLimitFault[] {
  const { memoryMb } = effectivePhp(bounds, limits);
  const most: PhpSettings = { ...bounds.most, workers: mostWorkers(bounds, memoryMb) };
  const names = ['memoryMb', 'uploadMb', 'seconds', 'workers', 'inputVars'] as const;
  return names.flatMap((limit) => {
    const value = limits[limit];
    const range = { limit, least: Math.min(LEAST_PHP[limit], most[limit]), most: most[limit] };
    return value === null || (value >= range.least && value <= range.most) ? [] : [range];
  });
}

/** The operator's limits of an install, by its PHP and its cgroup. */
export interface PhpRanges {
  phpMemoryMb: { standard: number; most: number };
  phpUploadMb: { standard: number; most: number };
  phpSeconds: { standard: number; most: number };
  phpWorkers: number;
  phpInputVars: { standard: number; most: number };
}

/** The bounds on a machine. A page never gets more memory than its install, nor an install more workers than half of its processes. */
export function phpBounds(
  { phpMemoryMb, phpUploadMb, phpSeconds, phpWorkers, phpInputVars }: PhpRanges,
  { memoryMb: installMemoryMb, processes }: { memoryMb: number; processes: number },
): PhpBounds {
  const memory = (wanted: number) => Math.min(wanted, installMemoryMb);
  return {
    standard: {
      memoryMb: memory(phpMemoryMb.standard),
      uploadMb: phpUploadMb.standard,
      seconds: phpSeconds.standard,
      inputVars: phpInputVars.standard,
    },
    most: {
      memoryMb: memory(phpMemoryMb.most),
      uploadMb: phpUploadMb.most,
      seconds: phpSeconds.most,
      workers: Math.min(phpWorkers, Math.max(LEAST_PHP.workers, Math.floor(processes / 2))),
      inputVars: phpInputVars.most,
    },
    installMemoryMb,
  };
}

/** The defaults of the settings. */
export const PHP_RANGES: PhpRanges = {
  phpMemoryMb: { standard: 256, most: 512 },
  phpUploadMb: { standard: 64, most: 1_024 },
  phpSeconds: { standard: 120, most: 300 },
  phpWorkers: 16,
  phpInputVars: { standard: 5_000, most: 20_000 },
};

/** Room for the other fields of a form with an upload, in MiB. */
const FORM_MB = 1;

/** The largest body of a request with an upload of this size. */
export function bodyMb(uploadMb: number): number {
  return uploadMb + FORM_MB;
}
