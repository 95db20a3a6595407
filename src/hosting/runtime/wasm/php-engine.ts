import type { PhpMemory } from '../../policy/wasm-php-limits.ts';
import type { ServingProcess } from './php-process.ts';
import type { PhpSite } from './php-sites.ts';
import type { ServiceOptions } from './platform-services.ts';

/** Websites ran on this PHP, and cannot now: it is looked for again. The message is the reason, as a clause. */
export class PhpLostError extends Error {
  override name = 'PhpLostError';
}

/** How to get a PHP that is not the one in WebAssembly. */
export interface OtherPhp {
  memory: PhpMemory;
  /** Whether websites stand still if it cannot be used. Otherwise they run on the one in WebAssembly. */
  isRequired: boolean;
  /**
   * `folder`: of the runtime, on the file system of the websites. `preferred`: the version that websites had, `major.minor`, which is taken
   * before newer ones if it is still there.
   *
   * @throws Error that says why it cannot be used, as a clause
   * @throws PhpLostError if it may come back before the next start of Homeport, such as after an update of the machine
   */
  create(folder: string, preferred?: string | null): Promise<PhpEngine>;
}

/** Another PHP than the one in WebAssembly: it answers the requests of websites and runs their scripts, with the same folders at the same paths. */
export interface PhpEngine {
  version: string;
  /** The walls between it and the machine, for the log. */
  walls: string;
  /**
   * Starts the process of a website, whose folders are prepared.
   *
   * @throws UnconfinedError if the machine cannot wall it in
   */
  start(site: PhpSite, options: EngineOptions): Promise<ServingProcess>;
  /** Whether its programs are still those that it was made of: the operator can remove or replace packages while Homeport runs. */
  isUsable(): Promise<boolean>;
  close(): Promise<void>;
}

export interface EngineOptions extends ServiceOptions {
  waitMs: number;
  /** Ends the process, also while it starts. */
  signal: AbortSignal;
}
