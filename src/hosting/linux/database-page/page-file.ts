import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file of the page in the install's own `/etc/homeport`. PHP runs it without the website's document root and settings. */
export const DATABASE_PAGE = 'database-page.php';

/** Folder of links and sessions, in the folder of uploads. The page knows it, too. */
export const DATABASE_SESSIONS = 'homeport-database';

/** Where Debian's package has adminer, and where sandboxes show it. */
export const ADMINER = '/usr/share/adminer';
export const SANDBOX_ADMINER = '/run/homeport/adminer';

/** The program of the page, the same for all installs. */
export const DATABASE_PAGE_TEXT = readFileSync(join(import.meta.dirname, 'php', DATABASE_PAGE), 'utf8');
