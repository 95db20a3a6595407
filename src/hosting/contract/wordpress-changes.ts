import type { InstallRef } from './install-ref.ts';
import type { ReportProgress } from './progress.ts';

/** Changes of single plugins and themes of a website. */
export interface WordPressChanger {
  /**
   * Installs, activates, deactivates or deletes a plugin or theme with WordPress's own functions, and checks the website's pages
   * before and after. If a page is worse, or WordPress fails, restores the checkpoint. A repeated call with the same id restores the
   * checkpoint of an interrupted one, and returns the outcome of one that has ended. `report` is called before anything changes.
   */
  changeItem(
    install: InstallRef,
    order: ItemOrder,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<ItemOutcome>;
}

export const ITEM_KINDS = ['plugin', 'theme'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

/** Name of a theme's folder: neither a path nor `.` or `..`. */
export const THEME_ID = '^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f/\\\\]*$';

/** `deleted`: an inactive plugin or theme is removed with its data. */
export const ITEM_STATUSES = ['active', 'inactive', 'deleted'] as const;
export type ItemStatus = (typeof ITEM_STATUSES)[number];

/** Slug of the directories of wordpress.org. */
export const ITEM_SLUG = '^[a-z0-9][a-z0-9-]{0,198}$';
export const LONGEST_PACKAGE_URL = 2_000;
export const LONGEST_PACKAGE_PATH = 500;

/** A package to install: of the directory of wordpress.org, a ZIP file below `private/`, or an https URL of one. */
export type PackageSource = { slug: string } | { file: string } | { url: string };

/** A change of one plugin or theme. */
export interface ItemChange {
  kind: ItemKind;
  /** File of a plugin (`akismet/akismet.php`) or its folder; folder of a theme. Null: the one that is installed. */
  id: string | null;
  /** Installed first. */
  source: PackageSource | null;
  /** Null: it stays. */
  status: ItemStatus | null;
  /** Whether WordPress itself updates it. Null: as it is. */
  autoUpdate: boolean | null;
  /** Whether it stays if pages only look different afterwards. Default: it is rolled back. */
  keep?: boolean;
}

export interface ItemOrder {
  /** UUID. */
  changeId: string;
  /** A complete backup of the present website; null for a change that pages cannot notice ({@link needsCheckpoint}). */
  checkpointId: string | null;
  change: ItemChange;
  /** Paths of further pages to check. */
  pages: readonly string[];
}

/** A switch of automatic updates runs no code of the plugin. */
export function needsCheckpoint({ source, status }: ItemChange): boolean {
  return source !== null || status !== null;
}

/**
 * `refused`: nothing was changed. `rolledBack`: the checkpoint was restored; with `mayKeep` because pages only looked different. Both
 * name the reason in one sentence without a full stop.
 */
export type ItemOutcome =
  | { changed: ChangedItem }
  | { refused: string }
  | { rolledBack: string; mayKeep?: boolean };

export interface ChangedItem {
  /** As WordPress names it. */
  id: string;
  /** For people. */
  name: string;
  version: string | null;
  /** How a page looks different all the same, one sentence without a full stop. */
  warning?: string;
}
