import type { SshSource } from '../../contract/imports.ts';
import type { InstallLimits } from '../../contract/install-limits.ts';
import type { Programs } from '../../runtime/runtime.ts';

/** A website that an import replaces, as its host provides it. */
export interface ImportableWebsite {
  limits: InstallLimits;
  /** Completes or undoes a replacement that was interrupted. */
  recover(): Promise<void>;
  /** The record of the replacement that made the present website; null if it had none. */
  record(): Promise<string | null>;
  /**
   * Makes an empty website beside the present one, and removes what is left of it when `work` ends. The signal that `work` gets also aborts,
   * with a RefusedImportError, once the website has too little room.
   */
  stage<Result>(
    work: (staged: StagedWebsite, signal: AbortSignal) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
  /** Shows the present website to visitors as it now is. Rejects with a BrokenWebsiteError unless its home page answers. */
  serve(signal?: AbortSignal): Promise<void>;
  /** What does not work for visitors, on one line without a full stop; null if all works. */
  warning(signal?: AbortSignal): Promise<string | null>;
}

/** A website that is built beside the present one. Its scripts reach nothing of the present one but the private folder. */
export interface StagedWebsite {
  runtime: Programs;
  /** An empty folder, as its scripts see it. */
  work: string;
  /** Where its `wp-content` belongs, as its scripts see it. There is none yet. */
  content: string;
  /** Gives the path at which its scripts see a file of the present website, `private/website.zip`, and those beside it. */
  see(file: string): Promise<string>;
  /** Fetches a website by SSH. Returns paths that its scripts see. */
  fetchBySsh(source: SshSource, steps: ImportSteps): Promise<{ archive: string; dump: string }>;
  /**
   * Fills its database from a dump that nobody vouches for, and lets `adapt` change it. Rejects with a RefusedImportError if the dump is
   * refused.
   */
  load<Result>(
    dump: LoadableDump,
    steps: ImportSteps,
    adapt: (database: LoadedDatabase) => Promise<Result>,
  ): Promise<Loaded<Result>>;
  /** Replaces the present website by this one, but for its private folder. All of it, also after a kill, or nothing. */
  replace(record: string | null): Promise<void>;
}

export interface ImportSteps {
  signal: AbortSignal;
  report(done: number, total: number | null): void;
}

export interface LoadableDump {
  /** As scripts see it. */
  file: string;
  /** Whether All-in-One WP Migration made it. */
  isWpress: boolean;
}

export interface Loaded<Result> {
  result: Result;
  /** Sentences about what was not imported. */
  notes: readonly string[];
}

/** The loaded database, while nothing of the imported `wp-content` runs on it. */
export interface LoadedDatabase {
  /** Runs a statement of MySQL, and returns its rows. */
  query(sql: string): Promise<string[][]>;
  /** Makes the files of the website that are the host's. */
  makeFiles(tablePrefix: string): Promise<void>;
  /** Replaces these host names by the address of the website. See urls/replace-urls.ts. */
  replaceUrls(hosts: readonly string[], signal: AbortSignal): Promise<unknown>;
  /** Runs scripts of WordPress on it. */
  runtime: Programs;
}
