/** The version of the library that better-sqlite3 is linked with. A test reads its symbols. Debian 12 has 2.36. */
export const OLDEST_GLIBC = '2.34';
