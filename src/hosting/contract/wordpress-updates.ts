import type { InstallRef } from './install-ref.ts';
import type { ReportProgress } from './progress.ts';

/** Updates of WordPress, plugins and themes on a website. */
export interface WordPressUpdater {
  /** Looks up which of the wanted updates are available. Changes nothing on the website. */
  planUpdates(install: InstallRef, wanted: WantedUpdates, signal?: AbortSignal): Promise<UpdatePlan>;
  /**
   * Makes updates one after the other, and checks the website's pages before and after each. If a page is worse, or an update leaves
   * changed files and fails, restores the checkpoint, so that the website is as before all of them. A repeated call with the same id
   * continues an interrupted one, and returns the outcome of one that has ended. `report` is called before anything changes.
   */
  updateWordpress(
    install: InstallRef,
    order: UpdateOrder,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<UpdateOutcome>;
}

/** Fetches releases of WordPress. */
export interface ReleaseFetcher {
  /**
   * Adds the newest WordPress and the newest releases of the branches in use. A failure does not prevent others. Removes versions that no
   * website used, and no update led to, for 30 days.
   */
  addReleases(): Promise<FetchedReleases>;
}

export interface FetchedReleases {
  /** Versions that are new on this host. */
  added: string[];
  /** Why others could not be added, one sentence each, for the operator. */
  failures: string[];
}

export const UPDATE_KINDS = ['core', 'plugin', 'theme'] as const;
export type UpdateKind = (typeof UPDATE_KINDS)[number];

/** The id of WordPress itself among updates. */
export const CORE_ID = 'wordpress';

/** The most items of one update, and the most pages that a check asks for besides the home page and the login form. */
export const MOST_UPDATES = 200;
export const MOST_CHECKED_PAGES = 6;

/** Updates to look for. */
export interface WantedUpdates {
  /** A WordPress version of the host; null: WordPress stays as it is. */
  core: string | null;
  plugins: WantedItems;
  themes: WantedItems;
}

/** All that have an update, or those with these ids (a file of a plugin may be shortened to its folder). */
export type WantedItems = 'all' | readonly string[];

export interface AvailableUpdate {
  kind: UpdateKind;
  /** As WordPress names it: file of a plugin (`akismet/akismet.php`), folder of a theme. {@link CORE_ID} for WordPress itself. */
  id: string;
  /** For people. */
  name: string;
  from: string;
  to: string;
}

export interface UpdatePlan {
  /** In the order of the updates: plugins, themes, WordPress. */
  updates: AvailableUpdate[];
  /** Wanted items that cannot be updated, one sentence each, for the website's owner. */
  refused: string[];
}

export interface UpdateOrder {
  /** UUID. */
  updateId: string;
  /** A complete backup of the present website. */
  checkpointId: string;
  updates: readonly AvailableUpdate[];
  /** Paths of further pages to check. */
  pages: readonly string[];
  /** Keeps updates after which pages only look different; PHP and WordPress must work. False if left out. */
  keep?: boolean;
}

export interface UpdateOutcome {
  /** The updates that were made; none after a rollback. */
  made: AvailableUpdate[];
  /** The updates that could not be made and changed nothing, such as after a failed download. */
  skipped: SkippedUpdate[];
  /** Whether the checkpoint was restored, so that changes of the website since are lost. */
  restored: boolean;
  /** Why the updates were rolled back; null if they were not. */
  rolledBack: RolledBack | null;
  /** How a page looks different after updates that are kept all the same, without a full stop. */
  warning?: string | undefined;
  /** Version of WordPress that the website has now. */
  wordpressVersion: string;
}

export interface SkippedUpdate {
  update: AvailableUpdate;
  /** One sentence without a full stop, for the website's owner. */
  reason: string;
}

export interface RolledBack {
  /** The update that failed or broke a page; null if the host was interrupted. */
  update: AvailableUpdate | null;
  /** One sentence without a full stop, for the website's owner. */
  reason: string;
  /** Whether pages only look different, so that `keep` of the order would keep the updates. */
  mayKeep?: boolean | undefined;
}
