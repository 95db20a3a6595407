import type { InstallRef } from './install-ref.ts';

/** The public sources of WordPress: the official download, the release in an npm package, and Debian's package. */
export const WORDPRESS_SOURCES = ['official', 'packaged', 'debian'] as const;

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

/** WordPress of one website. Every text comes from the website: cut, without control characters, and never trusted. */
export interface WordPressReading {
  core: { version: string; update: AvailableUpdate | null };
  plugins: WordPressPlugin[];
  themes: WordPressTheme[];
  administrators: WordPressAdministrator[];
  /** Null if it was not examined, or could not be. */
  siteHealth: SiteHealth | null;
  /** Whether it is a network of websites. The lists are those of its main site. */
  multisite: boolean;
  /** False if a list was cut. */
  isComplete: boolean;
  /** The outcome of asking for updates; null if it was not asked for. */
  updateCheck: UpdateCheck | null;
  /** The website's mark from before it was read ({@link WordPressMarks}). */
  mark: string;
}

export interface AvailableUpdate {
  version: string;
}

export interface WordPressPlugin {
  /** {@link PLUGIN_FILE}. */
  file: string;
  name: string;
  /** Null if the plugin names none. */
  version: string | null;
  status: PluginStatus;
  update: AvailableUpdate | null;
  /** Whether WordPress itself updates it. */
  autoUpdate: boolean;
}

export interface WordPressTheme {
  /** {@link THEME_STYLESHEET}. */
  stylesheet: string;
  name: string;
  version: string | null;
  status: ThemeStatus;
  /** The theme that it builds on. */
  parent: string | null;
  /** Whether it is part of WordPress on this host, and updated with it. */
  bundled: boolean;
  update: AvailableUpdate | null;
  autoUpdate: boolean;
}

export interface WordPressAdministrator {
  login: string;
  /** Null if the user has none. */
  email: string | null;
  displayName: string;
  /** ISO 8601 in UTC; null if WordPress does not know it. */
  registeredAt: string | null;
}

/** The tests of WordPress' Site Health that need no request to the website. */
export interface SiteHealth {
  good: number;
  recommended: number;
  critical: number;
  /** Tests that did not pass, critical ones first; empty if only the counts are known. */
  issues: { label: string; severity: 'recommended' | 'critical' }[];
}

/** Why WordPress could not ask for updates of each kind; null for success. */
export interface UpdateCheck {
  core: string | null;
  plugins: string | null;
  themes: string | null;
}

/** The website cannot be read. */
export interface WordPressUnread {
  refused: 'website';
  /** In one or two sentences, for the website's owner. */
  reason: string;
  mark: string | null;
}

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
export interface WordPressMark {
  installId: string;
  mark: string;
}

/** A host's marks of its websites, for a control plane to see cheaply which ones to read again. */
export interface WordPressMarks {
  /** One page of at most `INVENTORY_PAGE` installs with an id above `after`, in the order of their ids; empty at the end. */
  wordpressMarks(after: string | null): Promise<WordPressMark[]>;
}
