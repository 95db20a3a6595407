import Type, { type Static } from 'typebox';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import { missingFiles } from './missing-files.ts';
import { ADMINISTRATOR_PAGES, pagesOf } from './probed-pages.ts';
import { createAsking, type ProbeSite } from './probing.ts';
import { cronFault, newCommentFault } from './script-faults.ts';
import { seenPageSchema, unseen, type Visited } from './visited-page.ts';
import { HOME_PAGE } from './visitor-probe.ts';
import { openSession, type ProbeSession, websiteStateSchema } from './website-state.ts';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const observationSchema = Type.Object({
  /** The home page first. */
  pages: Type.Array(seenPageSchema),
  /** Paths of scripts and stylesheets that pages load and that do not exist. */
  missing: Type.Array(Type.String()),
  /** The fatal error of PHP in due tasks, and in a new comment; null without one. */
  cron: orNull(Type.String()),
  comment: orNull(Type.String()),
  /** The latest fatal errors in PHP's log. */
  fatals: Type.Array(Type.String()),
  /** Null if WordPress does not start. */
  state: orNull(websiteStateSchema),
  /** Duration of a small script, which shows how busy the machine was. */
  milliseconds: Type.Integer(),
});

/** How a website looks before or after a change. */
export type Observation = Static<typeof observationSchema>;

/** Why a page has no answer if the check took too long. */
export const NOT_ASKED = 'the check ended before';
/** A slower home page is measured three times. Others of such a website would take too long. */
const SLOW_MS = 2 * SECOND_MS;
/** Few enough to leave a website's workers to its visitors. */
export const SIDE_BY_SIDE = 2;

/**
 * Looks at a website as its visitors and an administrator see it: the home page, three others, the customer's `paths`, files, the REST
 * API and wp-admin. Unless `runs` is false, it runs due tasks, and adds a comment that it takes back. A page without an answer is a result and no failure.
 */
export async function observe(
  site: ProbeSite,
  paths: readonly string[] = [],
  { runs = true }: { runs?: boolean } = {},
): Promise<Observation> {
  const fatals = await site.fatals();
  const session = await openSession(site);
  const asking = createAsking(site, session, site.pace.pageMs);
  try {
    const home = await asking.measured(HOME_PAGE, (milliseconds) => milliseconds > SLOW_MS);
    const asked = [
      ...pagesOf(session.opened.state, home, site.website.names, paths),
      ...administratorPages(session),
    ];
    const others = await mapConcurrent(asked, SIDE_BY_SIDE, (page) => asking.visit(page));
    const visited = [home, ...others];
    const pages = [HOME_PAGE, ...asked].map((page, index) => visited[index]?.page ?? unseen(page, NOT_ASKED));
    const missing = await missingFiles(asking, present(visited));
    const [cron, comment] =
      asking.hasEnded() || !runs
        ? [null, null]
        : await Promise.all([cronFault(site, asking.signal), newCommentFault(site, session.opened.state)]);
    // A plugin that deactivates itself in wp-admin is no fault of what follows, so the later state counts.
    const state = (await session.close()).state ?? session.opened.state;
    const { milliseconds } = session;
    return {
      ...{ pages, missing: missing.map(({ path }) => path), cron, comment, fatals, state },
      milliseconds,
    };
  } catch (error) {
    // It expires in any case.
    await session.close().catch(() => null);
    throw error;
  } finally {
    asking.end();
  }
}

/** The pages of wp-admin; none if no one can be signed in. */
const administratorPages = ({ opened: { state } }: ProbeSession) =>
  state?.hasAdministrator && state.unwritable === null ? ADMINISTRATOR_PAGES : [];

export const present = (visited: readonly (Visited | null)[]): Visited[] =>
  visited.filter((one) => one !== null);
