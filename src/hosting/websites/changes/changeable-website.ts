import type { Logger } from 'pino';
import type { InstallLimits, InstallUsage } from '../../contract/install-limits.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { InstallRuntime } from '../../runtime/runtime.ts';
import type { ProbeSite } from '../probe/probing.ts';

/** A website whose plugins, themes and WordPress are changed, as its host provides it. It shows the website as it was when it was asked for. */
export interface ChangeableWebsite {
  runtime: InstallRuntime;
  /** Version of its WordPress. */
  version: string;
  /** The versions of WordPress that the host has. */
  versions(): Promise<string[]>;
  /** The website for a check of its pages. */
  lookAt(signal?: AbortSignal): Promise<ProbeSite>;
  /** Runs work that writes files. The signal aborts it if the disk fills; the outcome is then `failed`. */
  withinDisk<Made>(work: (signal?: AbortSignal) => Promise<Made>): Promise<Made | { failed: string }>;
  /** Empties PHP's memory and the caches of pages. */
  resetCaches(): Promise<void>;
  measure(signal?: AbortSignal): Promise<InstallUsage>;
  /**
   * Switches it with its database to another WordPress of the host, and serves it. Rejects with {@link CoreUnchanged} if nothing has changed.
   * After another rejection it may be switched.
   */
  switchCore(version: string): Promise<void>;
  /** Restores a backup of the same website with the WordPress that it had then, and serves it. */
  restore(backupId: string, version: string, signal?: AbortSignal): Promise<void>;
  /** Called after each step, so that tests can interrupt there. */
  reached?(step: string): Promise<void>;
}

/** The websites of a host whose plugins, themes and WordPress are changed. */
export interface ChangeableWebsites {
  /** Rejects with a `PermanentHostError` if the host has no such website. */
  websiteOf(install: InstallRef): Promise<ChangeableWebsite>;
  /** File that records how far the change of a plugin or theme of an install is. */
  changeOf(installId: string): string;
  /** File that records how far the updates of an install are. */
  updateOf(installId: string): string;
  limits: InstallLimits;
  log: Logger;
}

/** A switch to another WordPress failed before it changed anything of the website. */
export class CoreUnchanged extends Error {
  override name = 'CoreUnchanged';
}
