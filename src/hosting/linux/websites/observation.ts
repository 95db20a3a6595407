import Type, { type Static } from 'typebox';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import {
  type AskedEdge,
  RedirectedElsewhere,
  type VisitedWebsite,
  visitPage,
} from '../../wordpress/wordpress-answers.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { beginAdminPage } from '../wordpress/admin-page.ts';
import { newestFatals } from '../wordpress/error-log.ts';
import { readSiteSettings, type SiteSettings, siteSettingsSchema } from '../wordpress/site-settings.ts';

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
export type SeenPage = Static<typeof seenPage>;
type CheckedPage = Pick<SeenPage, 'name' | 'path'>;

export const LOGIN_FORM = '/wp-login.php';
const ALWAYS: readonly CheckedPage[] = [
  { name: 'the home page', path: '/' },
  { name: 'the login form', path: LOGIN_FORM },
];
export const NEWEST_POST = 'the newest post';
export const NEWEST_PAGE = 'the newest page';
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
const MOST_PAGES = 10;
/** Few enough to leave a website's workers to its visitors. */
const SIDE_BY_SIDE = 2;

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

/** Looks at the same pages again, and then at settings, which code of a page may have changed. */
export async function observeAgain(look: Look, before: Observation): Promise<Observation> {
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
