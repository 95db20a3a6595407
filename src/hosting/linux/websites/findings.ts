import type { SiteSettings } from '../wordpress/site-settings.ts';
import { NEWEST_PAGE, NEWEST_POST, type Observation, type SeenPage } from './observation.ts';

/** Posts and advertisements change the length of a page, but rarely so much. */
const SHORTEST = 0.5;

/** A plugin or theme whose fatal errors in the log count. */
export interface SuspectedItem {
  kind: 'core' | 'plugin' | 'theme';
  id: string;
}

/** A result of a check that is worse than before. */
export interface Finding {
  /** One sentence without a full stop. */
  text: string;
  /** The path of a page that only looks different: PHP and WordPress work. Null for a fault. */
  differs: string | null;
}

/** The first of the {@link findings}; null if all is as good as before. */
export function worsened(
  before: Observation,
  after: Observation,
  suspects?: readonly SuspectedItem[],
): string | null {
  return findings(before, after, suspects)[0]?.text ?? null;
}

/**
 * What is worse than before: one finding for each page, then one of the log, of wp-admin and of the settings. With `suspects`, the log's new fatal
 * errors count only if they name a file of theirs: visitors can cause others, such as by a request of `/wp-settings.php`.
 */
export function findings(
  before: Observation,
  after: Observation,
  suspects?: readonly SuspectedItem[],
): Finding[] {
  const pages = after.pages.map((page, index) => {
    const former = before.pages[index];
    return former === undefined ? null : worsenedPage(former, page);
  });
  const faults = [
    newFatal(before, after, suspects),
    worsenedAdmin(before, after),
    worsenedSettings(before.settings, after.settings),
  ];
  return [...pages, ...faults.map((text) => text && { text, differs: null })].filter((one) => !!one);
}

function newFatal(
  before: Observation,
  after: Observation,
  suspects?: readonly SuspectedItem[],
): string | null {
  const known = new Set(before.fatals);
  const folders = suspects?.flatMap(folderOf);
  const fresh = after.fatals.find(
    (line) => !known.has(line) && (folders === undefined || folders.some((folder) => line.includes(folder))),
  );
  return fresh === undefined ? null : `PHP reports: ${fresh}`;
}

/** WordPress itself is never suspected: visitors can request most of its files, which then fail. */
function folderOf({ kind, id }: SuspectedItem): string[] {
  if (kind === 'core') return [];
  const [folder = id] = id.split('/');
  const isFile = kind === 'plugin' && !id.includes('/');
  return [`/${kind}s/${folder}${isFile ? '' : '/'}`];
}

function worsenedPage(former: SeenPage, page: SeenPage): Finding | null {
  const { name, path, status, failure, length, parts, errors } = page;
  const fault = (text: string): Finding => ({ text, differs: null });
  const difference = (text: string): Finding => ({ text, differs: path });
  if (former.status === null) return null;
  // Its author may have deleted it meanwhile.
  if (status === 404 && (name === NEWEST_POST || name === NEWEST_PAGE)) return null;
  if (status === null) return fault(`${name} gives no answer: ${failure}`);
  const shown = errors.find((error) => !former.errors.includes(error));
  if (status !== former.status && status >= 400) {
    const text = `${name} answers ${status}, and ${former.status} before`;
    return shown === undefined && isDeliberate(status) ? difference(text) : fault(text);
  }
  // An error page has no structure to keep.
  if (former.status >= 400) return null;
  if (shown !== undefined) return fault(`${name} shows a ${shown.toLowerCase()}`);
  if (failure !== null)
    return former.failure === null ? difference(`${name} is elsewhere: ${failure}`) : null;
  const lost = former.parts.filter((part) => !parts.includes(part));
  if (lost.length > 0) return difference(`${name} lacks ${lost.join(', ')}`);
  if (length >= former.length * SHORTEST) return null;
  return difference(`${name} has ${length} characters, and ${former.length} before`);
}

/** Plugins answer 4xx to hide pages and 503 during maintenance. Other errors of the server are faults. */
const isDeliberate = (status: number) => status < 500 || status === 503;

function worsenedAdmin(before: Observation, { admin = null }: Observation): string | null {
  return before.admin === null && admin !== null ? `wp-admin fails: ${admin}` : null;
}

function worsenedSettings(former: SiteSettings | null, now: SiteSettings | null): string | null {
  if (former === null) return null;
  if (now === null) return 'WordPress does not start';
  for (const option of ['siteurl', 'home'] as const) {
    if (now[option] !== former[option]) {
      return `the option ${option} is "${now[option]}", and "${former[option]}" before`;
    }
  }
  if (now.stylesheet !== former.stylesheet || now.template !== former.template) {
    return `the theme is ${now.stylesheet}, and ${former.stylesheet} before`;
  }
  const inactive = former.plugins.find((plugin) => !now.plugins.includes(plugin));
  return inactive === undefined ? null : `the plugin ${inactive} is no longer active`;
}
