import { setTimeout as sleep } from 'node:timers/promises';
import Type, { type Static } from 'typebox';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { cleanText } from '../../wordpress/website-text.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { beginAdminPage } from '../wordpress/admin-page.ts';
import { newestFatals } from '../wordpress/error-log.ts';
import { readSiteSettings, type SiteSettings, siteSettingsSchema } from '../wordpress/site-settings.ts';
import {
  type AskedEdge,
  RedirectedElsewhere,
  type VisitedWebsite,
  visitPage,
} from '../wordpress/wordpress-answers.ts';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** A page of a website as visitors get it. */
const seenPage = Type.Object({
  /** For people: `the home page`. */
  name: Type.String(),
  path: Type.String(),
  /** Null if there was no answer, for the reason in `failure`. A page that redirects to another website has both. */
  status: orNull(Type.Integer()),
  failure: orNull(Type.String()),
  length: Type.Integer(),
  /** The parts of its structure that it has, such as `</html>`. */
  parts: Type.Array(Type.String()),
  /** The kinds of PHP errors that visitors can read in it. */
  errors: Type.Array(Type.String()),
});

export const observationSchema = Type.Object({
  pages: Type.Array(seenPage),
  /** The latest fatal errors in PHP's log, without their times. */
  fatals: Type.Array(Type.String()),
  /** The fatal error of a page of wp-admin; null without one. Entries of earlier versions lack it. */
  admin: Type.Optional(orNull(Type.String())),
  /** Null if they could not be read. */
  settings: orNull(siteSettingsSchema),
});

/** How a website looks before or after a change. */
export type Observation = Static<typeof observationSchema>;
type SeenPage = Static<typeof seenPage>;
type CheckedPage = Pick<SeenPage, 'name' | 'path'>;

export const LOGIN_FORM = '/wp-login.php';
const ALWAYS: readonly CheckedPage[] = [
  { name: 'the home page', path: '/' },
  { name: 'the login form', path: LOGIN_FORM },
];
const NEWEST_POST = 'the newest post';
const NEWEST_PAGE = 'the newest page';
/** A page that breaks off, or that lost its theme, lacks some of those that it had. */
const PARTS = [
  '<head',
  '</head>',
  '<header',
  '<nav',
  '<main',
  '<footer',
  '</body>',
  '</html>',
  'id="loginform"',
  'name="pwd"',
];
/** As PHP and WordPress print them. */
const ERRORS = /<b>(Fatal error|Parse error)<\/b>:|There has been a (critical error) on this website/g;
/** Past the page cache, which would hide a fault of PHP. WordPress takes such a visitor for a stranger. */
const UNCACHED = { cookie: 'wordpress_logged_in_check=1' };
/** Posts and advertisements change the length of a page, but rarely so much. */
const SHORTEST = 0.5;
const MOST_PAGES = 10;
/** Few enough to leave a website's workers to its visitors. */
const SIDE_BY_SIDE = 2;
/** A busy machine or a slow database can break one visit. */
const MOST_CHECKS = 3;

/** How long a check waits. Tests wait less. */
export interface CheckPace {
  /** For a page, with its redirects. */
  pageMs: number;
  /** Before a failing check is repeated. */
  pauseMs: number;
}

export const CHECK_PACE: CheckPace = { pageMs: 20 * SECOND_MS, pauseMs: 3 * SECOND_MS };

/** The website to look at, and how to reach it. */
export interface Look {
  layout: LinuxLayout;
  install: SandboxedInstall;
  website: VisitedWebsite;
  edge: AskedEdge;
  /** Command prefix that enters the install's cgroup. */
  enter: readonly string[];
  pace: CheckPace;
  signal?: AbortSignal | undefined;
}

/**
 * Looks at the home page, the login form, the newest post and page, and the customer's `paths`, at wp-admin, PHP's errors and settings. A page
 * without an answer is a finding and no failure.
 */
export async function observe(look: Look, paths: readonly string[] = []): Promise<Observation> {
  // Before the settings: a plugin that deactivates itself in wp-admin is no fault of what follows.
  const admin = await adminOf(look);
  const settings = await settingsOf(look);
  const pages = await seeAll(look, pagesOf(settings, paths));
  return { pages, fatals: await newestFatals(look.layout, look.install), admin, settings };
}

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

export interface CheckOutcome {
  /** On one line. */
  fault: Finding | null;
  /** The first finding that was tolerated. */
  warning: string | null;
}

/**
 * Looks at the same pages again, and returns the first finding that is worse than before, on one line without a full stop. Repeats a
 * failing check after a pause. `suspects`: see {@link worsened}.
 */
export async function findFault(
  look: Look,
  before: Observation,
  suspects?: readonly SuspectedItem[],
): Promise<string | null> {
  return (await checkAgain(look, before, { suspects })).fault?.text ?? null;
}

/** As {@link findFault}, but differences of pages that `isTolerated` are warnings. */
export async function checkAgain(
  look: Look,
  before: Observation,
  {
    suspects,
    isTolerated = () => false,
  }: { suspects?: readonly SuspectedItem[] | undefined; isTolerated?: (path: string) => boolean },
): Promise<CheckOutcome> {
  let warning: string | null = null;
  const check = async () => {
    const outcome = judge(findings(before, await observeAgain(look, before), suspects), isTolerated);
    warning = outcome.warning;
    return outcome.fault;
  };
  const fault = await repeatFailing(check, () =>
    sleep(look.pace.pauseMs, undefined, { signal: look.signal }),
  );
  return {
    fault: fault && { ...fault, text: cleanText(fault.text) },
    warning: warning && cleanText(warning),
  };
}

/** Divides findings. A fault comes before differences of pages, because a user may keep those. */
export function judge(all: readonly Finding[], isTolerated: (path: string) => boolean): CheckOutcome {
  const isWarning = ({ differs }: Finding) => differs !== null && isTolerated(differs);
  const wrong = all.filter((finding) => !isWarning(finding));
  return {
    fault: wrong.find(({ differs }) => differs === null) ?? wrong[0] ?? null,
    warning: all.find(isWarning)?.text ?? null,
  };
}

/** Runs a check up to three times until it finds nothing. Returns the last finding. */
export async function repeatFailing<Fault>(
  check: () => Promise<Fault | null>,
  pause: () => Promise<void>,
): Promise<Fault | null> {
  let fault = await check();
  for (let checks = 1; fault !== null && checks < MOST_CHECKS; checks++) {
    await pause();
    fault = await check();
  }
  return fault;
}

/** Looks at the same pages again, and then at settings, which code of a page may have changed. */
async function observeAgain(look: Look, before: Observation): Promise<Observation> {
  const pages = await seeAll(look, before.pages);
  const admin = await adminOf(look);
  const fatals = await newestFatals(look.layout, look.install);
  return { pages, fatals, admin, settings: await settingsOf(look) };
}

const adminOf = (look: Look) =>
  beginAdminPage(look.layout, look.install, { enter: look.enter, signal: look.signal });

const settingsOf = (look: Look) =>
  readSiteSettings(look.layout, look.install, { enter: look.enter, signal: look.signal });

const seeAll = (look: Look, pages: readonly CheckedPage[]) =>
  mapConcurrent(pages, SIDE_BY_SIDE, (page) => see(look, page));

/** WordPress redirects the addresses with ids to its own, whatever form those have. */
function pagesOf(settings: SiteSettings | null, paths: readonly string[]): CheckedPage[] {
  const { post = null, page = null } = settings ?? {};
  const all = [
    ...ALWAYS,
    ...(post === null ? [] : [{ name: NEWEST_POST, path: `/?p=${post}` }]),
    ...(page === null ? [] : [{ name: NEWEST_PAGE, path: `/?page_id=${page}` }]),
    ...paths.map((path) => ({ name: path, path })),
  ];
  return all
    .filter(({ path }, at) => all.findIndex((other) => other.path === path) === at)
    .slice(0, MOST_PAGES);
}

async function see({ website, edge, pace, signal }: Look, { name, path }: CheckedPage): Promise<SeenPage> {
  try {
    const { status, body } = await visitPage(website, path, edge, {
      signal,
      headers: UNCACHED,
      timeoutMs: pace.pageMs,
    });
    const parts = PARTS.filter((part) => body.toLowerCase().includes(part.toLowerCase()));
    const errors = [...body.matchAll(ERRORS)].map((found) => found[1] ?? found[2] ?? '');
    return { name, path, status, failure: null, length: body.length, parts, errors: [...new Set(errors)] };
  } catch (error) {
    signal?.throwIfAborted();
    const unseen = { name, path, failure: messageOf(error), length: 0, parts: [], errors: [] };
    return { ...unseen, status: error instanceof RedirectedElsewhere ? error.status : null };
  }
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
