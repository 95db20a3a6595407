import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file of the page in the install's own `/etc/homeport`. PHP runs it without the website's document root and settings. */
export const DATABASE_PAGE = 'database-page.php';

/** The file beside it, with what both hosts share. */
const DATABASE_SESSIONS = 'database-sessions.php';

/** Where Debian's package has adminer, and where sandboxes show it. */
export const ADMINER = '/usr/share/adminer';
export const SANDBOX_ADMINER = '/run/homeport/adminer';

/** The program of the page, the same for all installs: texts by their names. The page loads what comes before it. */
export const DATABASE_PAGE_FILES: Readonly<Record<string, string>> = {
  [DATABASE_SESSIONS]: textOf('../../wordpress/php', DATABASE_SESSIONS),
  [DATABASE_PAGE]: textOf('php', DATABASE_PAGE),
};

function textOf(folder: string, name: string): string {
  return readFileSync(join(import.meta.dirname, folder, name), 'utf8');
}
