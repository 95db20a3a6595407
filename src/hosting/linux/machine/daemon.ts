/** A program that runs for as long as the host wants it to. */
export interface DaemonSpec {
  /** `nginx`, `mariadb`, `php-<install id>`: `[a-z0-9-]+`, unique on the host. */
  name: string;
  /** Description for people: `PHP of shop`. */
  description: string;
  /** Absolute path of the program, then its arguments. It must stay in the foreground. */
  command: readonly [string, ...string[]];
  /** Its environment besides PATH and LC_ALL. */
  environment?: Record<string, string>;
  /** Limits for the daemon and its children together; null or left out for no limit. */
  limits?: ResourceLimits | null;
  /** Signal for a graceful stop; SIGTERM if left out. */
  stopSignal?: NodeJS.Signals;
  /** Milliseconds to stop before it is killed; 10 s if left out. */
  stopWithinMs?: number;
  /**
   * For a daemon whose main process keeps its sockets while it runs a program: the mark of the program that it should run. At SIGUSR2, the main
   * process lets its program finish, and then runs the one that is in place by then. So no connection is lost. See
   * `src/hosting/linux/daemons/kept-program.ts`.
   */
  program?: string;
  /** Resolves if the daemon answers; rejects with the reason if not. Called repeatedly, so it need not wait. */
  ready(): Promise<void>;
  /** Milliseconds until it must be ready; 30 s if left out. */
  readyWithinMs?: number;
}

export interface ResourceLimits {
  memoryMb: number;
  /** 100 is one processor core. */
  cpuPercent: number;
  processes: number;
}

/** `restarting`: it does not run, or does not answer yet. */
export type DaemonState = 'running' | 'restarting' | 'stopped';

export interface DaemonStatus {
  name: string;
  state: DaemonState;
  /** Main process; null if none runs. */
  pid: number | null;
  /** How often it was started again because it had ended, since it was last started on purpose. */
  restarts: number;
  /** Of all its processes, with the file cache that they fill; null if unknown. */
  memoryBytes: number | null;
}

/** Supervises daemons: systemd, or this process on machines without systemd. */
export interface Daemons {
  /** Call first: ends the daemons that a killed host process left behind. */
  start(): Promise<void>;
  /**
   * Makes the daemon run exactly as `spec` says: starts it if needed, restarts it if `command`, `environment` or `limits`
   * changed, exchanges its program if that changed, and otherwise leaves it alone. Resolves once it is ready; rejects with the end of its output if it is not ready in
   * time.
   */
  ensure(spec: DaemonSpec): Promise<void>;
  /**
   * Starts it if it does not run, and resolves once it is ready. Never ends it: a database that recovers from a crash answers late.
   * Rejects for a daemon that was never ensured, or is not ready in time.
   */
  untilReady(name: string): Promise<void>;
  /** Stops and starts it, or only its program if it keeps its sockets. Rejects for a daemon that was never ensured. */
  restart(name: string): Promise<void>;
  /** Sends a signal to its main process. Rejects if it does not run. */
  signal(name: string, signal: NodeJS.Signals): Promise<void>;
  /** Stops it with its children, and forgets it. Succeeds if it is missing. */
  remove(name: string): Promise<void>;
  /** Every daemon that there is. */
  list(): Promise<DaemonStatus[]>;
  /** Call when the host ends: daemons supervised by this process end with it, those under systemd go on. */
  stop(): Promise<void>;
}
