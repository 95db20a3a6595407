import Type, { type Static } from 'typebox';
import type { Immutable } from './immutable.ts';
import type { InstallRef } from './install-ref.ts';
import { closed, orNull, sentences, text, uuid, wordpressVersion } from './message-values.ts';
import type { ReportProgress } from './progress.ts';
import { newer } from './sent-value.ts';

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

export const UPDATE_KINDS = ['core', 'plugin', 'theme'] as const;
export type UpdateKind = (typeof UPDATE_KINDS)[number];

/** The id of WordPress itself among updates. */
export const CORE_ID = 'wordpress';

/** The most items of one update, and the most pages that a check asks for besides the home page and the login form. */
export const MOST_UPDATES = 200;
export const MOST_CHECKED_PAGES = 6;

export const FetchedReleasesSchema = Type.Object({
  /** Versions that are new on this host. */
  added: Type.Array(wordpressVersion, { maxItems: 200 }),
  /** Why others could not be added, one sentence each, for the operator. */
  failures: Type.Array(sentences, { maxItems: 200 }),
});
export type FetchedReleases = Static<typeof FetchedReleasesSchema>;

/** A plugin or theme as WordPress names it. */
export const ItemIdSchema = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
});

/** All that have an update, or those with these ids (a file of a plugin may be shortened to its folder). */
const WantedItemsSchema = Type.Union([
  Type.Literal('all'),
  Type.Array(ItemIdSchema, { maxItems: MOST_UPDATES }),
]);
export type WantedItems = Immutable<Static<typeof WantedItemsSchema>>;

/** Updates to look for. */
export const WantedUpdatesSchema = Type.Object(
  {
    /** A WordPress version of the host; null: WordPress stays as it is. */
    core: orNull(wordpressVersion),
    plugins: WantedItemsSchema,
    themes: WantedItemsSchema,
  },
  closed,
);
export type WantedUpdates = Immutable<Static<typeof WantedUpdatesSchema>>;

const AvailableUpdateSchema = Type.Object({
  kind: Type.Enum([...UPDATE_KINDS]),
  /** As WordPress names it: file of a plugin (`akismet/akismet.php`), folder of a theme. {@link CORE_ID} for WordPress itself. */
  id: ItemIdSchema,
  /** For people. */
  name: text(200),
  from: text(200),
  to: text(200),
});
export type AvailableUpdate = Static<typeof AvailableUpdateSchema>;

export const UpdatePlanSchema = Type.Object({
  /** In the order of the updates: plugins, themes, WordPress. */
  updates: Type.Array(AvailableUpdateSchema, { maxItems: MOST_UPDATES + 1 }),
  /** Wanted items that cannot be updated, one sentence each, for the website's owner. */
  refused: Type.Array(sentences, { maxItems: MOST_UPDATES }),
});
export type UpdatePlan = Static<typeof UpdatePlanSchema>;

/** A path of a website, with a query. */
export const CheckedPathSchema = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '^/[\\u0021-\\u007e]*$',
});

export const UpdateOrderSchema = Type.Object(
  {
    updateId: uuid,
    /** A complete backup of the present website. */
    checkpointId: uuid,
    updates: Type.Array(AvailableUpdateSchema, { maxItems: MOST_UPDATES + 1 }),
    /** Paths of further pages to check. */
    pages: Type.Array(CheckedPathSchema, { maxItems: MOST_CHECKED_PAGES }),
    /** Keeps updates after which pages only look different; PHP and WordPress must work. False if left out. */
    keep: Type.Optional(Type.Boolean(newer(false))),
  },
  closed,
);
export type UpdateOrder = Immutable<Static<typeof UpdateOrderSchema>>;

const SkippedUpdateSchema = Type.Object({
  update: AvailableUpdateSchema,
  /** One sentence without a full stop, for the website's owner. */
  reason: sentences,
});
export type SkippedUpdate = Static<typeof SkippedUpdateSchema>;

const RolledBackSchema = Type.Object({
  /** The update that failed or broke a page; null if the host was interrupted. */
  update: orNull(AvailableUpdateSchema),
  /** One sentence without a full stop, for the website's owner. */
  reason: sentences,
  /** Whether pages only look different, so that `keep` of the order would keep the updates. */
  mayKeep: Type.Optional(Type.Boolean()),
});
export type RolledBack = Static<typeof RolledBackSchema>;

const UpdateOutcomeSchema = Type.Object({
  /** The updates that were made; none after a rollback. */
  made: Type.Array(AvailableUpdateSchema, { maxItems: MOST_UPDATES + 1 }),
  /** The updates that could not be made and changed nothing, such as after a failed download. */
  skipped: Type.Array(SkippedUpdateSchema, { maxItems: MOST_UPDATES + 1 }),
  /** Whether the checkpoint was restored, so that changes of the website since are lost. */
  restored: Type.Boolean(),
  /** Why the updates were rolled back; null if they were not. */
  rolledBack: orNull(RolledBackSchema),
  /** How a page looks different after updates that are kept all the same, without a full stop. */
  warning: Type.Optional(sentences),
  /** Version of WordPress that the website has now. */
  wordpressVersion,
});
export type UpdateOutcome = Static<typeof UpdateOutcomeSchema>;

/** Hosts of earlier versions leave `skipped` and `restored` out. */
export const SentOutcomeSchema = Type.Object({
  ...UpdateOutcomeSchema.properties,
  skipped: Type.Optional(UpdateOutcomeSchema.properties.skipped),
  restored: Type.Optional(UpdateOutcomeSchema.properties.restored),
});
