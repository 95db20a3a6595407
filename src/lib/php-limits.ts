/** Limits of an install's PHP. Null: the host's default. */
export interface PhpLimits {
  /** `memory_limit`, in MiB. */
  memoryMb: number | null;
  /** `upload_max_filesize`, in MiB. The limits of a request's body follow. */
  uploadMb: number | null;
  /** `max_execution_time`. */
  seconds: number | null;
  /** Requests that PHP works on at once. */
  workers: number | null;
  /** `max_input_vars`. */
  inputVars: number | null;
}

export type PhpLimit = keyof PhpLimits;

/** The limits of a running PHP. */
export type PhpSettings = Record<PhpLimit, number>;

/** Limits that a host allows its installs. */
export interface PhpBounds {
  /** Without `workers`: as many as fit. */
  standard: Omit<PhpSettings, 'workers'> & { workers?: number };
  most: PhpSettings;
  /** Memory of an install in MiB, its PHP workers together. */
  installMemoryMb: number;
  /** Rough memory of a worker with a `memory_limit` of 256 MiB, in MiB. Default: that of PHP-FPM. */
  workerMb?: number;
}

export const NO_PHP_LIMITS: PhpLimits = {
  memoryMb: null,
  uploadMb: null,
  seconds: null,
  workers: null,
  inputVars: null,
};

/** The least values that a WordPress with a few plugins works with. */
export const LEAST_PHP: PhpSettings = {
  memoryMb: 64,
  uploadMb: 2,
  seconds: 10,
  workers: 2,
  inputVars: 1_000,
};
/** Seconds until a request is ended, whatever it does. `max_execution_time` counts processor time only. */
export const PHP_WITHIN_SECONDS = 300;

/** The most that any host can allow. */
export const MOST_PHP: PhpSettings = {
  memoryMb: 65_536,
  uploadMb: 1_024,
  seconds: PHP_WITHIN_SECONDS,
  workers: 64,
  inputVars: 100_000,
};
