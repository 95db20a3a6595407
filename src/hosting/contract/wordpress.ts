import Type, { type Static } from 'typebox';
import { WORDPRESS_SOURCES } from './choices.ts';
import type { InstallRef } from './install-ref.ts';
import { INVENTORY_PAGE } from './inventory.ts';
import { LONGEST_SENTENCES, orNull, text, time, uuid } from './message-values.ts';

/**
 * Sources of WordPress that the control plane may choose. It may not choose a folder or archive: the host would read it as root
 * and make it readable for all websites.
 */
export const WordPressSourceSchema = Type.String({ pattern: `^(${WORDPRESS_SOURCES.join('|')})$` });

/** The most entries of each list that a host reads. More are left out, and {@link WordPressReading.isComplete} is false. */
export const MOST_PLUGINS = 500;
export const MOST_THEMES = 200;
export const MOST_ADMINISTRATORS = 200;
export const MOST_HEALTH_ISSUES = 50;
/** The longest text of a website that a host passes on, in characters. */
export const LONGEST_WORDPRESS_TEXT = 200;

/** A plugin as WordPress names it: `akismet/akismet.php`, `hello.php`. No part begins with a dot. */
export const PLUGIN_FILE =
  '^(?!\\.)[^\\u0000-\\u001f\\u007f/\\\\]+(/(?!\\.)[^\\u0000-\\u001f\\u007f/\\\\]+)?$';
/** The folder of a plugin, or its file without `.php` if it has none. */
export const pluginSlug = (file: string): string => file.split('/')[0]?.replace(/\.php$/, '') ?? file;

/** A theme as WordPress names it: its folder, such as `twentytwentyfive`. */
export const THEME_STYLESHEET = '^(?!\\.)[^\\u0000-\\u001f\\u007f/\\\\]+$';

/** `network`: active in every site of a network. WordPress always loads must-use plugins and drop-ins. */
export const PLUGIN_STATUSES = ['active', 'inactive', 'network', 'must_use', 'dropin'] as const;
export type PluginStatus = (typeof PLUGIN_STATUSES)[number];

/** `parent`: the active theme builds on it. */
export const THEME_STATUSES = ['active', 'parent', 'inactive'] as const;
export type ThemeStatus = (typeof THEME_STATUSES)[number];

const shortText = text(LONGEST_WORDPRESS_TEXT);
const amount = Type.Integer({ minimum: 0, maximum: 100_000 });

const AvailableUpdateSchema = Type.Object({ version: shortText });
export type AvailableUpdate = Static<typeof AvailableUpdateSchema>;

const WordPressPluginSchema = Type.Object({
  file: Type.String({ maxLength: LONGEST_WORDPRESS_TEXT, pattern: PLUGIN_FILE }),
  name: shortText,
  /** Null if the plugin names none. */
  version: orNull(shortText),
  status: Type.Enum([...PLUGIN_STATUSES]),
  update: orNull(AvailableUpdateSchema),
  /** Whether WordPress itself updates it. */
  autoUpdate: Type.Boolean(),
});
export type WordPressPlugin = Static<typeof WordPressPluginSchema>;

const WordPressThemeSchema = Type.Object({
  stylesheet: Type.String({ maxLength: LONGEST_WORDPRESS_TEXT, pattern: THEME_STYLESHEET }),
  name: shortText,
  version: orNull(shortText),
  status: Type.Enum([...THEME_STATUSES]),
  /** The theme that it builds on. */
  parent: orNull(shortText),
  /** Whether it is part of WordPress on this host, and updated with it. */
  bundled: Type.Boolean(),
  update: orNull(AvailableUpdateSchema),
  autoUpdate: Type.Boolean(),
});
export type WordPressTheme = Static<typeof WordPressThemeSchema>;

const WordPressAdministratorSchema = Type.Object({
  login: shortText,
  /** Null if the user has none. */
  email: orNull(shortText),
  displayName: shortText,
  /** Null if WordPress does not know it. */
  registeredAt: orNull(time),
});
export type WordPressAdministrator = Static<typeof WordPressAdministratorSchema>;

/** The tests of WordPress' Site Health that need no request to the website. */
const SiteHealthSchema = Type.Object({
  good: amount,
  recommended: amount,
  critical: amount,
  /** Tests that did not pass, critical ones first; empty if only the counts are known. */
  issues: Type.Array(Type.Object({ label: shortText, severity: Type.Enum(['recommended', 'critical']) }), {
    maxItems: MOST_HEALTH_ISSUES,
  }),
});
export type SiteHealth = Static<typeof SiteHealthSchema>;

const reason = text(LONGEST_SENTENCES);

/** Why WordPress could not ask for updates of each kind; null for success. */
const UpdateCheckSchema = Type.Object({
  core: orNull(reason),
  plugins: orNull(reason),
  themes: orNull(reason),
});
export type UpdateCheck = Static<typeof UpdateCheckSchema>;

const mark = Type.String({ pattern: '^[0-9a-f]{32}$' });

/**
 * WordPress of one website. Every text comes from the website: cut, without control characters, and never trusted. Bounded, because the
 * website or the host may be compromised.
 */
export const WordPressReadingSchema = Type.Object({
  core: Type.Object({ version: shortText, update: orNull(AvailableUpdateSchema) }),
  plugins: Type.Array(WordPressPluginSchema, { maxItems: MOST_PLUGINS }),
  themes: Type.Array(WordPressThemeSchema, { maxItems: MOST_THEMES }),
  administrators: Type.Array(WordPressAdministratorSchema, { maxItems: MOST_ADMINISTRATORS }),
  /** Null if it was not examined, or could not be. */
  siteHealth: orNull(SiteHealthSchema),
  /** Whether it is a network of websites. The lists are those of its main site. */
  multisite: Type.Boolean(),
  /** False if a list was cut. */
  isComplete: Type.Boolean(),
  /** The outcome of asking for updates; null if it was not asked for. */
  updateCheck: orNull(UpdateCheckSchema),
  /** The website's mark from before it was read ({@link WordPressMarks}). */
  mark,
});
export type WordPressReading = Static<typeof WordPressReadingSchema>;

/** The website cannot be read. */
export const WordPressUnreadSchema = Type.Object({
  refused: Type.Literal('website'),
  /** In one or two sentences, for the website's owner. */
  reason,
  mark: orNull(mark),
});
export type WordPressUnread = Static<typeof WordPressUnreadSchema>;

export interface WordPressReader {
  /**
   * Reads the WordPress of a website without its plugins, so that a broken one does not matter. With `check`, WordPress asks its
   * sources for updates first and examines its health. A failure to reach them keeps the updates known before.
   */
  readWordPress(
    install: InstallRef,
    options: { check: boolean },
    signal?: AbortSignal,
  ): Promise<WordPressReading | WordPressUnread>;
}

/** A text that changes whenever plugins, themes, administrators or WordPress itself change. */
const WordPressMarkSchema = Type.Object({ installId: uuid, mark });
export type WordPressMark = Static<typeof WordPressMarkSchema>;
export const WordPressMarksSchema = Type.Array(WordPressMarkSchema, { maxItems: INVENTORY_PAGE });

/** A host's marks of its websites, for a control plane to see cheaply which ones to read again. */
export interface WordPressMarks {
  /** One page of at most `INVENTORY_PAGE` installs with an id above `after`, in the order of their ids; empty at the end. */
  wordpressMarks(after: string | null): Promise<WordPressMark[]>;
}
