/** A program that runs for as long as the host wants it to. */
export interface DaemonSpec {
  /** `nginx`, `mariadb`, `php-<install id>`: `[a-z0-9-]+`, unique on the host. */
  name: string;
  /** What it is, for people: `PHP of shop`. */
  description: string;
  /** Absolute path of the program, then its arguments. It stays in the foreground. */
  command: readonly [string, ...string[]];
  /** Its environment besides PATH and LC_ALL. */
  environment?: Record<string, string>;
  /** What it and its children may take together; null or left out for no limit. */
  limits?: ResourceLimits | null;
  /** Asks it to end gracefully; SIGTERM if left out. */
  stopSignal?: NodeJS.Signals;
  /** How long it may take to end before it is killed, in milliseconds; 10 s if left out. */
  stopWithinMs?: number;
  /** Resolves once it answers. Called again and again until then, so it need not wait; rejects with what is amiss. */
  ready(): Promise<void>;
  /** How long it may take until it is ready, in milliseconds; 30 s if left out. */
  readyWithinMs?: number;
}

export interface ResourceLimits {
  memoryMb: number;
  /** 100 is one processor. */
  cpuPercent: number;
  processes: number;
}

export type DaemonState = 'running' | 'restarting' | 'stopped';

export interface DaemonStatus {
  name: string;
  state: DaemonState;
  /** Main process, or null while there is none. */
  pid: number | null;
}

/** What keeps daemons running: systemd, or this process itself where there is none. */
export interface Daemons {
  /** Before anything else: ends what an earlier host process left behind when it was killed. */
  start(): Promise<void>;
  /**
   * Sees that the daemon runs exactly as `spec` says: started if it does not, restarted if `command`, `environment` or
   * `limits` are others than it was started with, otherwise left alone. Resolves once it is ready; rejects with the end of what it wrote if it
   * does not get ready in time.
   */
  ensure(spec: DaemonSpec): Promise<void>;
  /** Ends it and starts it again. Rejects for one that was never ensured. */
  restart(name: string): Promise<void>;
  /** Sends a signal to its main process. Rejects if it does not run. */
  signal(name: string, signal: NodeJS.Signals): Promise<void>;
  /** Ends it, its children too, and forgets it. Removing what is not there is success. */
  remove(name: string): Promise<void>;
  /** Every daemon that there is. */
  list(): Promise<DaemonStatus[]>;
  /** When the host itself ends: what this process supervises ends with it, what systemd runs goes on. */
  stop(): Promise<void>;
}
