// Apart from the queries, because tests without a page load it.

/** Third part of the keys of lists of installs and sites, after the account. They show domains and backups, too. */
export const INSTALL_LIST = 'list';

/** Query key of the session: who is signed in. */
export const SESSION_KEY = ['session'] as const;
