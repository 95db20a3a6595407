import { DEFAULT_DENY, INSTALLATION } from './deny-rules.ts';

/** The cases of the rules for files that no visitor may see, which every edge must follow. Paths are decoded and normalised. */

/** Patterns of an install. */
export const DENY = [
  ...DEFAULT_DENY,
  ...INSTALLATION,
  '/private',
  '/a/b/',
  '*.secret',
  '/x/*.txt',
  'Notes.md',
];

export const DENIED = [
  '/wp-content/debug.log',
  '/wp-content/DEBUG.log',
  '/dump.sql',
  '/wp-content/uploads/2026/Dump.SQL',
  '/a.b.sql.gz',
  '/x/database/wordpress.sqlite',
  '/shop.DB',
  '/wp-content/a.sqlite-wal',
  '/a.sqlite-shm',
  '/a.db-journal',
  '/backup.zip',
  '/site.tar.gz',
  '/wp-content/all.wpress',
  '/private',
  '/private/x/y',
  '/a/b/c',
  '/k.secret',
  '/x/a.txt',
  '/deep/notes.md',
  '/wp-admin/install.php',
  '/wp-admin/install.php/x',
  '/wp-admin/setup-config.php',
];

export const HIDDEN = [
  '/.env',
  '/a/.git/config',
  '/a/.htaccess',
  '/.well-known/.x',
  '/.well-knownx',
  '/a/.well-known/x',
  '/..a',
];

/** Neither hidden nor denied. */
export const SHOWN = [
  '/',
  '/sql',
  '/debug.log.html',
  '/wp-content/uploads/2026/brochure.zip',
  '/downloads/a.zip',
  '/privates',
  '/secret',
  '/x/y/a.txt',
  '/how-to-use-.sql/',
  '/deep/notes.md.html',
  '/.well-known',
  '/.well-known/x',
  '/a.sqlite.html',
  '/mydb',
  '/a.b',
  '/a/b.c/d',
];
