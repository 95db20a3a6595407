// Values that the help of the command line names. They are apart from the schemas, because help loads no library for schemas.

/** The public sources of WordPress: the official download, the release in an npm package, and Debian's package. */
export const WORDPRESS_SOURCES = ['official', 'packaged', 'debian'] as const;

export const LOG_KINDS = ['access', 'php', 'cron', 'mail'] as const;
export type LogKind = (typeof LOG_KINDS)[number];
/** The most entries of a log that one call returns. */
export const LOG_PAGE = 500;
/** The most characters of a search in a log. */
export const LONGEST_SEARCH = 200;

/** The most messages that a report of the mail queue lists, and that a selection names. */
export const LISTED_MESSAGES = 200;
