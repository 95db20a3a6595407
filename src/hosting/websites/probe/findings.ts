import type { MissingFile } from './missing-files.ts';
import { NEWEST_PAGE, NEWEST_POST } from './probed-pages.ts';
import { LOGIN_PART, type SeenPage } from './visited-page.ts';
import type { ReadState, WebsiteState } from './website-state.ts';

/** Posts and advertisements change the length of a page, but rarely so much. */
const SHORTEST = 0.5;
/** A page is slower if it takes so much more, and so many times as long. */
const SLOWER_MS = 3_000;
const SLOWER_TIMES = 4;
/** A machine is not counted as busier than this: the comparison would say nothing. */
const BUSIEST = 8;
/** A smaller loss can be the work of people. */
const LOST_ROWS = 10;
const LOST_SHARE = 0.5;

/** A plugin or theme whose fatal errors in the log count. */
export interface SuspectedItem {
  kind: 'core' | 'plugin' | 'theme';
  id: string;
}

/** A result of a check that is worse than before. */
export interface Finding {
  /** One sentence without a full stop. */
  text: string;
  /** The part that only looks different, because PHP and WordPress work: the path of a page, or rows of the database. Null for a fault. */
  differs: string | null;
}

const fault = (text: string): Finding => ({ text, differs: null });

/** How many times as long this machine took for the same small script as before. */
export const busyness = (before: number, now: number): number =>
  Math.min(BUSIEST, Math.max(1, now / Math.max(before, 1)));

/** Whether a page takes much longer than before. `busy`: see {@link busyness}. */
export function isSlower(former: number, now: number, busy: number): boolean {
  const expected = Math.max(former, 1) * busy;
  return now - expected > SLOWER_MS && now > expected * SLOWER_TIMES;
}

/** The finding about a page that is worse than before; null if it is as good. */
export function worsenedPage(former: SeenPage, page: SeenPage, busy = 1): Finding | null {
  const { name, path, kind, status, failure, length, parts, errors, error, milliseconds } = page;
  const because = error === null ? '' : `: ${error}`;
  const difference = (text: string): Finding => ({ text, differs: path });
  if (former.status === null) return null;
  // Its author may have deleted it meanwhile.
  if (status === 404 && (name === NEWEST_POST || name === NEWEST_PAGE)) return null;
  if (status === null) return fault(`${name} gives no answer: ${failure}`);
  const shown = errors.find((one) => !former.errors.includes(one));
  const isBroken = shown !== undefined || (error !== null && former.error === null);
  if (status !== former.status && status >= 400) {
    const text = `${name} answers ${status}, and ${former.status} before${because}`;
    return !isBroken && isDeliberate(status) ? difference(text) : fault(text);
  }
  // An error page has no structure to keep.
  if (former.status >= 400) return null;
  if (isBroken) return fault(`${name} shows a ${shown?.toLowerCase() ?? 'fatal error'}${because}`);
  if (failure !== null)
    return former.failure === null ? difference(`${name} is elsewhere: ${failure}`) : null;
  if (isSlower(former.milliseconds, milliseconds, busy)) {
    return difference(`${name} takes ${seconds(milliseconds)}, and ${seconds(former.milliseconds)} before`);
  }
  if (kind === 'api' || kind === 'file') return null;
  if (kind === 'administrator') return worsenedAdministratorPage(former, page);
  const lost = former.parts.filter((part) => !parts.includes(part));
  if (lost.length > 0) return difference(`${name} lacks ${lost.join(', ')}`);
  if (length >= former.length * SHORTEST) return null;
  return difference(`${name} has ${length} characters, and ${former.length} before`);
}

/** Plugins greet administrators with other pages, so only the end of the page counts, and whether the session is accepted. */
function worsenedAdministratorPage(former: SeenPage, { name, path, parts }: SeenPage): Finding | null {
  if (parts.includes(LOGIN_PART) && !former.parts.includes(LOGIN_PART)) {
    return { text: `${name} asks administrators to sign in again`, differs: path };
  }
  const isCut = former.parts.includes('</html>') && !parts.includes('</html>');
  return isCut ? { text: `${name} lacks </html>`, differs: path } : null;
}

const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(1)} s`;

/** Plugins answer 4xx to hide pages and 503 during maintenance. Other errors of the server are faults. */
const isDeliberate = (status: number) => status < 500 || status === 503;

/** A script or stylesheet that a page loads and that does not exist. Names with a hash change, so the number counts, too. */
export function newlyMissing(before: readonly string[], missing: readonly MissingFile[]): Finding | null {
  const fresh = missing.find(({ path }) => !before.includes(path));
  if (fresh === undefined || missing.length <= before.length) return null;
  const { path, status, page } = fresh;
  return { text: `${page.name} loads ${path}, which answers ${status}`, differs: page.path };
}

/**
 * A fatal error that PHP's log did not have. With `suspects`, errors count only if they name a file of theirs: visitors can cause others,
 * such as by a request of `/wp-settings.php`.
 */
export function newFatal(
  before: readonly string[],
  after: readonly string[],
  suspects?: readonly SuspectedItem[],
): Finding | null {
  const folders = suspects?.flatMap(folderOf);
  const fresh = after.find(
    (line) =>
      !before.includes(line) && (folders === undefined || folders.some((folder) => line.includes(folder))),
  );
  return fresh === undefined ? null : fault(`PHP reports: ${fresh}`);
}

/** WordPress itself is never suspected: visitors can request most of its files, which then fail. */
function folderOf({ kind, id }: SuspectedItem): string[] {
  if (kind === 'core') return [];
  const [folder = id] = id.split('/');
  const isFile = kind === 'plugin' && !id.includes('/');
  return [`/${kind}s/${folder}${isFile ? '' : '/'}`];
}

/** A script of the website that ended with a fatal error, and did not before. */
export function worsenedScript(what: string, before: string | null, after: string | null): Finding | null {
  return before === null && after !== null ? fault(`${what}: ${after}`) : null;
}

export function worsenedState(former: WebsiteState | null, read: ReadState): Finding | null {
  if (former === null) return null;
  if (read.state === null) {
    return fault(`WordPress does not start${read.failure === null ? '' : `: ${read.failure}`}`);
  }
  const now = read.state;
  for (const option of ['siteurl', 'home'] as const) {
    if (now[option] !== former[option]) {
      return fault(`the option ${option} is "${now[option]}", and "${former[option]}" before`);
    }
  }
  if (now.stylesheet !== former.stylesheet || now.template !== former.template) {
    return fault(`the theme is ${now.stylesheet}, and ${former.stylesheet} before`);
  }
  const inactive = former.plugins.find((plugin) => !now.plugins.includes(plugin));
  if (inactive !== undefined) return fault(`the plugin ${inactive} is no longer active`);
  if (former.hasAdministrator && !now.hasAdministrator) return fault('no user is an administrator');
  if (former.unwritable === null && now.unwritable !== null) {
    return fault(`the database cannot be written: ${now.unwritable}`);
  }
  return lostRows(former.rows, now.rows);
}

function lostRows(former: WebsiteState['rows'], now: WebsiteState['rows']): Finding | null {
  for (const [name, before] of Object.entries(former)) {
    const left = now[name] ?? 0;
    const isLost = (left === 0 && before > 0) || (left < before * LOST_SHARE && before - left >= LOST_ROWS);
    if (isLost)
      return { text: `the website has ${left} ${name}, and ${before} before`, differs: `rows of ${name}` };
  }
  return null;
}
