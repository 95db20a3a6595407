import { setTimeout as sleep } from 'node:timers/promises';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import { cleanReason } from '../../wordpress/website-text.ts';
import {
  busyness,
  type Finding,
  isSlower,
  newFatal,
  newlyMissing,
  type SuspectedItem,
  worsenedPage,
  worsenedScript,
  worsenedState,
} from './findings.ts';
import { missingFiles } from './missing-files.ts';
import { type Observation, SIDE_BY_SIDE } from './observation.ts';
import { type Asking, createAsking, type ProbeSite } from './probing.ts';
import { cronFault, newCommentFault } from './script-faults.ts';
import type { SeenPage, Visited } from './visited-page.ts';
import { openSession, type ProbeSession } from './website-state.ts';

/** A busy machine or a slow database can break one visit. */
const MOST_CHECKS = 3;
/** A check that takes longer is not repeated: visitors wait for the roll-back. */
const REPEATED_WITHIN_MS = 15 * SECOND_MS;
/** A page that hangs is a fault after so many times its former time (`CheckPace.patienceMs`). */
const PATIENCE_TIMES = 20;

export interface CheckOutcome {
  /** On one line. */
  fault: Finding | null;
  /** The first finding that was tolerated. */
  warning: string | null;
}

export interface CheckOptions {
  /** See {@link newFatal}. */
  suspects?: readonly SuspectedItem[] | undefined;
  /** Whether a difference is a warning only. `what`: see {@link Finding.differs}. */
  isTolerated?(what: string): boolean;
}

type Check = () => Promise<Finding | null>;

/** Returns the first finding of {@link checkAgain}. */
export async function findFault(site: ProbeSite, before: Observation): Promise<string | null> {
  return (await checkAgain(site, before)).fault?.text ?? null;
}

/**
 * Looks at a website again as `observe` did, and compares. A fault that it had before is no finding. Repeats a failing check after a pause,
 * and asks nothing more after the first fault, so that a website that hangs is restored within a minute.
 */
export async function checkAgain(
  site: ProbeSite,
  before: Observation,
  { suspects, isTolerated = () => false }: CheckOptions = {},
): Promise<CheckOutcome> {
  const all: Finding[] = [];
  const session = await openWell(site, before);
  const asking = createAsking(site, session, site.pace.pageMs);
  const isWarning = ({ differs }: Finding) => differs !== null && isTolerated(differs);

  /** Runs a check, again if it fails, and ends the probe at a fault. */
  async function run(check: Check, place: 'first' | 'last' = 'last'): Promise<void> {
    const began = performance.now();
    let found: Finding | null = null;
    await repeatFailing(
      async () => {
        const finding = await check();
        // A request that was broken off says nothing.
        if (finding !== null || !asking.hasEnded()) found = finding;
        return found === null || isWarning(found) ? null : found;
      },
      () => pauseWithin(asking, began),
    );
    if (found === null) return;
    if (place === 'first') all.unshift(found);
    else all.push(found);
    if (!isWarning(found)) asking.end();
  }
  const runUnlessEnded = async (check: Check) => (asking.hasEnded() ? undefined : run(check));

  try {
    const busy = busyness(before.milliseconds, session.milliseconds);
    const visited: Visited[] = [];
    const [home, ...others] = before.pages
      .filter(({ status }) => status !== null)
      .map((former) => pageCheck(asking, former, busy, visited));
    const checks: Check[] = [
      ...others,
      async () => worsenedScript('scheduled tasks fail', before.cron, await cronFault(site, asking.signal)),
      async () =>
        worsenedScript('a new comment fails', before.comment, await newCommentFault(site, before.state)),
    ];
    // Without a session, the pages of wp-admin would ask to sign in.
    await run(async () => worsenedState(before.state && { ...before.state, rows: {} }, session.opened));
    if (home !== undefined) await runUnlessEnded(home);
    await mapConcurrent(checks, SIDE_BY_SIDE, runUnlessEnded);
    await runUnlessEnded(async () => newlyMissing(before.missing, await missingFiles(asking, visited)));
    const closed = await session.close();
    // The cause of a page that looks different can be there, and code of a page may have changed it.
    if (all.every(({ differs }) => differs !== null)) {
      await run(
        async () => worsenedState(before.state, closed.state === null ? await session.close() : closed),
        'first',
      );
    }
    if (all.every(isWarning)) await run(async () => newFatal(before.fatals, await site.fatals(), suspects));
  } catch (error) {
    // It expires in any case.
    await session.close().catch(() => null);
    throw error;
  } finally {
    asking.end();
  }
  const { fault, warning } = judge(all, isTolerated);
  return {
    fault: fault && { ...fault, text: cleanReason(fault.text) },
    warning: warning && cleanReason(warning),
  };
}

/** Opens a session, also while the database is slow. */
async function openWell(site: ProbeSite, before: Observation): Promise<ProbeSession> {
  let session = await openSession(site);
  for (
    let checks = 1;
    session.opened.state === null && before.state !== null && checks < MOST_CHECKS;
    checks++
  ) {
    await sleep(site.pace.pauseMs, undefined, { signal: site.signal });
    session = await openSession(site);
  }
  return session;
}

/** Looks at a page again. Those with an answer are kept in `visited`. */
function pageCheck(asking: Asking, former: SeenPage, busy: number, visited: Visited[]): Check {
  const { pageMs, patienceMs } = asking.site.pace;
  const patience = Math.min(pageMs, Math.max(patienceMs, former.milliseconds * PATIENCE_TIMES));
  return async () => {
    const seen = await asking.measured(former, (now) => isSlower(former.milliseconds, now, busy), patience);
    if (seen === null) return null;
    visited.push(seen);
    return worsenedPage(former, seen.page, busy);
  };
}

/** Pauses before a check is repeated. False if there is no time for that. */
async function pauseWithin({ site, signal }: Asking, began: number): Promise<boolean> {
  if (performance.now() - began > REPEATED_WITHIN_MS) return false;
  await sleep(site.pace.pauseMs, undefined, { signal }).catch(() => {});
  site.signal?.throwIfAborted();
  return !signal.aborted;
}

/** Divides findings. A fault comes before differences, because a user may keep those. */
export function judge(all: readonly Finding[], isTolerated: (what: string) => boolean): CheckOutcome {
  const isWarning = ({ differs }: Finding) => differs !== null && isTolerated(differs);
  const wrong = all.filter((finding) => !isWarning(finding));
  return {
    fault: wrong.find(({ differs }) => differs === null) ?? wrong[0] ?? null,
    warning: all.find(isWarning)?.text ?? null,
  };
}

/** Runs a check up to three times until it finds nothing, while `pause` allows. Returns the last finding. */
export async function repeatFailing<Fault>(
  check: () => Promise<Fault | null>,
  pause: () => Promise<boolean>,
): Promise<Fault | null> {
  let fault = await check();
  for (let checks = 1; fault !== null && checks < MOST_CHECKS && (await pause()); checks++) {
    fault = await check();
  }
  return fault;
}
