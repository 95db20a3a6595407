import Type, { type Static } from 'typebox';
import type { Immutable } from './immutable.ts';
import type { InstallRef } from './install-ref.ts';
import { closed, orNull, sentences, text, uuid } from './message-values.ts';
import type { ReportProgress } from './progress.ts';
import { newer } from './sent-value.ts';
import { CheckedPathSchema, ItemIdSchema, MOST_CHECKED_PAGES } from './wordpress-updates.ts';

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
const PackageSourceSchema = Type.Union([
  Type.Object({ slug: Type.String({ pattern: ITEM_SLUG }) }, closed),
  Type.Object({ file: Type.String({ minLength: 1, maxLength: LONGEST_PACKAGE_PATH }) }, closed),
  Type.Object({ url: Type.String({ minLength: 1, maxLength: LONGEST_PACKAGE_URL }) }, closed),
]);
export type PackageSource = Static<typeof PackageSourceSchema>;

const wantedState = {
  /** Installed first. */
  source: orNull(PackageSourceSchema),
  /** Null: it stays. */
  status: orNull(Type.Enum([...ITEM_STATUSES])),
  /** Whether WordPress itself updates it. Null: as it is. */
  autoUpdate: orNull(Type.Boolean()),
  /** Whether it stays if pages only look different afterwards. Default: it is rolled back. */
  keep: Type.Optional(Type.Boolean(newer(false))),
};
const themeId = Type.String({ minLength: 1, maxLength: 200, pattern: THEME_ID });

/**
 * A change of one plugin or theme. `id`: the file of a plugin (`akismet/akismet.php`) or its folder; the folder of a theme. Null: the one
 * that is installed.
 */
const ItemChangeSchema = Type.Union([
  Type.Object({ kind: Type.Literal('plugin'), id: orNull(ItemIdSchema), ...wantedState }, closed),
  Type.Object({ kind: Type.Literal('theme'), id: orNull(themeId), ...wantedState }, closed),
]);
export type ItemChange = Static<typeof ItemChangeSchema>;

export const ItemOrderSchema = Type.Object(
  {
    changeId: uuid,
    /** A complete backup of the present website; null for a change that pages cannot notice ({@link needsCheckpoint}). */
    checkpointId: orNull(uuid),
    change: ItemChangeSchema,
    /** Paths of further pages to check. */
    pages: Type.Array(CheckedPathSchema, { maxItems: MOST_CHECKED_PAGES }),
  },
  closed,
);
export type ItemOrder = Immutable<Static<typeof ItemOrderSchema>>;

/** A switch of automatic updates runs no code of the plugin. */
export function needsCheckpoint({ source, status }: ItemChange): boolean {
  return source !== null || status !== null;
}

const ChangedItemSchema = Type.Object({
  /** As WordPress names it. */
  id: ItemIdSchema,
  /** For people. */
  name: text(200),
  version: orNull(text(200)),
  /** How a page looks different all the same, one sentence without a full stop. */
  warning: Type.Optional(sentences),
});
export type ChangedItem = Static<typeof ChangedItemSchema>;

/**
 * `refused`: nothing was changed. `rolledBack`: the checkpoint was restored; with `mayKeep` because pages only looked different. Both
 * name the reason in one sentence without a full stop.
 */
export const ItemOutcomeSchema = Type.Union([
  Type.Object({ changed: ChangedItemSchema }),
  Type.Object({ refused: sentences }),
  Type.Object({ rolledBack: sentences, mayKeep: Type.Optional(Type.Boolean()) }),
]);
export type ItemOutcome = Static<typeof ItemOutcomeSchema>;
