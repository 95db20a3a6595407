import type { ServingProcess } from './php-process.ts';
import type { PhpSite } from './php-sites.ts';
import type { ServiceOptions } from './platform-services.ts';

/** Another PHP than the one in WebAssembly: it answers the requests of websites and runs their scripts, with the same folders at the same paths. */
export interface PhpEngine {
  version: string;
  /** What keeps it from the machine, for the log. */
  walls: string;
  /** Starts the process of a website, whose folders are prepared. */
  start(site: PhpSite, options: EngineOptions): Promise<ServingProcess>;
  close(): Promise<void>;
}

export interface EngineOptions extends ServiceOptions {
  waitMs: number;
  /** Ends the process, also while it starts. */
  signal: AbortSignal;
}
